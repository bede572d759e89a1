import { S3Error } from '../../../core/s3/error.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';

/** A connection given up by us, with the code that the operating system would use. */
export class WireError extends Error {
  override readonly name = 'WireError';
  readonly code: 'ETIMEDOUT' | 'ECONNRESET' | 'ECONNABORTED';

  constructor(code: WireError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** The store has answered while its request was being sent: its answer says why. */
export class AnsweredEarly extends Error {
  override readonly name = 'AnsweredEarly';

  constructor() {
    super('the store answered before it had the whole body');
  }
}

/** A failure of the road to the store as callers see it: they retry a 503. */
export function unavailable(cause: unknown): S3Error {
  if (cause instanceof S3Error) return cause;
  const message = `The object store cannot be reached (${reasonOf(cause)}). Please retry.`;
  return s3Error('ServiceUnavailable', message, { cause });
}

/** Codes alone: messages of the operating system name addresses. */
export function reasonOf(error: unknown): string {
  const { code, errors } = error as { code?: unknown; errors?: { code?: unknown }[] };
  const first = code ?? errors?.[0]?.code;
  return typeof first === 'string' ? first : 'connection failed';
}

/** Whether the store has closed the connection, as it may at any time with a kept one. */
export function isClosed(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code;
  return code === 'ECONNRESET' || code === 'EPIPE';
}
