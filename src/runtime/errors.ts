/**
 * Exit statuses of long-running components and commands, after sysexits(3).
 * Usage errors of oclif commands end with 2.
 */
export const exitStatus = {
  /** A failure without a status of its own. */
  failure: 1,
  /** Wrong command line of a command that parses its own, such as the wrapper. */
  usage: 64,
  /** A server or the node agent is unavailable. */
  unavailable: 69,
  /** A defect of svc, or data that svc did not write. */
  internal: 70,
  /** The system lacks what is needed, such as protected memory. */
  system: 71,
  /** Permission denied, by a server or by the node agent. */
  denied: 77,
  /** Invalid configuration; every error is listed at once. */
  config: 78,
} as const;

export interface SvcErrorOptions {
  /** What the reader should do next, as a sentence. */
  nextStep: string;
  exitStatus?: number;
  /** Several findings reported together, one a line. */
  details?: readonly string[];
  cause?: unknown;
}

/** An error with a stable code, an exit status and a next step. Messages never carry secret values. */
export class SvcError extends Error {
  override readonly name = 'SvcError';
  readonly code: string;
  readonly exitStatus: number;
  readonly nextStep: string;
  readonly details: readonly string[];

  constructor(code: string, message: string, options: SvcErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.exitStatus = options.exitStatus ?? exitStatus.failure;
    this.nextStep = options.nextStep;
    this.details = options.details ?? [];
  }
}

/** The message of a thrown value of any type, without advice that only whoever starts Node can follow. */
export const messageOf = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : String(thrown)).replace(nodesAdvice, '');

const nodesAdvice = /; if the root CA is installed locally, try running Node\.js with --use-system-ca/;

/** `messageOf` with the listed details, on one line. */
export function fullMessageOf(thrown: unknown): string {
  const details = thrown instanceof SvcError ? thrown.details : [];
  return [messageOf(thrown), ...details].join('; ');
}

/** Node's codes for a rejected certificate, where a retry does not help. */
const codes: ReadonlySet<unknown> = new Set([
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_REJECTED',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

const maxDepth = 8;

/** The code of a rejected certificate in an error or one of its causes; undefined if there is none. */
export function certificateErrorCode(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; depth < maxDepth && current instanceof Error; depth += 1) {
    const { code } = current as NodeJS.ErrnoException;
    if (codes.has(code)) return code;
    current = current.cause;
  }
  return undefined;
}

/** The HTTP status of an error of the AWS SDK; undefined without a response. */
export function httpStatusOf(error: unknown): number | undefined {
  const { $metadata } = error as { readonly $metadata?: { readonly httpStatusCode?: number } };
  return $metadata?.httpStatusCode;
}
