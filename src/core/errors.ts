/**
 * Exit statuses of long-running components and commands, after sysexits(3).
 * Usage errors of oclif commands end with 2.
 */
export const exitStatus = {
  failure: 1,
  usage: 64,
  unavailable: 69,
  internal: 70,
  system: 71,
  denied: 77,
  config: 78,
} as const;

export interface SvcErrorOptions {
  /** What the reader does next, as a sentence. */
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
