/** An answer of the key server other than a success, in the words that Vault and OpenBao use. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: number;

  /** @param message '' for an answer without words */
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The server does not know the token. */
export const unknownToken = (): Refusal => new Refusal(403, 'permission denied');

/** The token's policies do not allow the path. */
export const outsidePolicy = (): Refusal => new Refusal(403, '1 error occurred:\n\t* permission denied\n\n');

export const noSuchPath = (): Refusal => new Refusal(404, 'no handler for route');

/** There is an engine, and nothing at this path of it. */
export const nothingThere = (): Refusal => new Refusal(404, '');

export const unsupported = (): Refusal =>
  new Refusal(405, '1 error occurred:\n\t* unsupported operation\n\n');
