import { EnvelopeError } from '../../../core/envelope/error.ts';
import { S3Error } from '../../../core/s3/error.ts';
import { s3Error } from '../../../core/s3/error-catalog.ts';

/** True for an error of the SDK that says that the object does not exist. */
export const isMissing = (error: unknown): boolean => nameOf(error) === 'NoSuchKey';

/** Throws what the SDK has thrown as callers see it. The SDK's messages stay in the cause. */
export function stateFailure(error: unknown): never {
  if (error instanceof S3Error || error instanceof EnvelopeError) throw error;
  const name = nameOf(error);
  if (name === 'NoSuchBucket') throw s3Error('NoSuchBucket', undefined, { cause: error });
  const message = `A helper object of the proxy could not be reached in the object store (${name}). Please retry.`;
  throw s3Error('ServiceUnavailable', message, { cause: error });
}

function nameOf(error: unknown): string {
  const name = error instanceof Error ? error.name : '';
  return /^[A-Za-z.]{1,60}$/.test(name) ? name : 'unknown';
}
