/** Thrown where a check, or what several share, cannot find out what it has to know. */
export class NotEvaluated extends Error {
  override readonly name = 'NotEvaluated';
  /** What is missing: `list pods`. */
  readonly permission: string | undefined;

  constructor(reason: string, permission?: string, cause?: unknown) {
    super(reason, cause === undefined ? undefined : { cause });
    this.permission = permission;
  }
}

/** Thrown where there is nothing to look at, and nobody said that there should be. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}
