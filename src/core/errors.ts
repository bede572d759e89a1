/**
 * Exit statuses of long-running components and commands, after sysexits(3).
 * Usage errors of oclif commands end with 2.
 */
export const exitStatus = {
  /** It failed, in a way that has no status of its own. */
  failure: 1,
  /** A command line is wrong that the command reads by itself, as the wrapper does. */
  usage: 64,
  /** A server or the node agent cannot be had. */
  unavailable: 69,
  /** A defect of svc, or data that are not what svc wrote. */
  internal: 70,
  /** The system does not give what is needed, such as protected memory. */
  system: 71,
  /** Permission denied, by a server or by the node agent. */
  denied: 77,
  /** The configuration is wrong; every error is listed at once. */
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

/** What was thrown, in words; anything can be thrown. */
export const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? thrown.message : String(thrown);

/** As `messageOf`, with the details that it lists, on one line. */
export function fullMessageOf(thrown: unknown): string {
  const details = thrown instanceof SvcError ? thrown.details : [];
  return [messageOf(thrown), ...details].join('; ');
}
