/** The wrapper, or the application below it, ended before it served. */
export class WrapperRefusal extends Error {
  override readonly name = 'WrapperRefusal';
  /** The wrapper's code; undefined where it was the application that ended. */
  readonly code: string | undefined;
  /** Without a full stop. */
  readonly reason: string;

  constructor(code: string | undefined, reason: string) {
    super(reason);
    this.code = code;
    this.reason = reason;
  }
}
