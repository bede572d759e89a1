/** The caller has closed the connection, or it was broken on purpose: nobody is left to answer. */
export class CallerGone extends Error {
  override readonly name = 'CallerGone';

  constructor(cause?: unknown) {
    super('the caller has gone away', cause === undefined ? undefined : { cause });
  }
}
