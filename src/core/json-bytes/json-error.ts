/** Bytes that are not the JSON that they should be. Says where, never what: the text may be a secret. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
  /** Offset of the byte that does not fit. */
  readonly at: number;

  constructor(at: number, expected: string) {
    super(`not JSON at byte ${at}: expected ${expected}`);
    this.at = at;
  }
}
