/** Bodies that were attempted under one part number of an upload. */
export interface AttemptedPart {
  /** As the caller was told; undefined where it was told of a failure. */
  readonly etag: string | undefined;
  readonly body: Buffer;
}

export interface AttemptedUpload {
  readonly key: string;
  readonly parts: Map<number, AttemptedPart[]>;
}

/**
 * What is authentic in one case, by what callers sent. docs/THREAT-MODEL.md and docs/PROXY.md say what a store that
 * is not trusted can do without being noticed, and this is all that the model allows it:
 *
 * - give out any version that was ever sent under the same key, or say that there is none (rollback, deletion);
 * - within one upload, put an earlier part of the same number in the place of a newer one before Complete;
 * - say what it likes in headers that are not the envelope's: ETag, dates, content type, user metadata, the sizes of
 *   HEAD and of listings, which keys there are;
 * - strip the envelope, so that its bytes are given out as they are, where unencrypted reads are allowed, and only
 *   without `x-amz-meta-svc-encrypted`; a copy of such an object encrypts what the store gave;
 * - above the verify buffer, without --strict, spoil bytes of an answer that then breaks off.
 *
 * Everything else is a failure: other bytes, another key's or another upload's object, a size or range of a read that
 * does not belong to its bytes, an answer that ends well and is cut, a request that never ends.
 */
export class World {
  readonly #candidates = new Map<string, Buffer[]>();
  /** What an honest store must give; absent where a lie or an edit came between, null where nothing is there. */
  readonly certain = new Map<string, Buffer | null>();
  readonly uploads = new Map<string, AttemptedUpload>();
  /** Bodies without envelope that the store has given out, by key. */
  readonly bare = new Map<string, Buffer[]>();

  candidates(key: string): readonly Buffer[] {
    return this.#candidates.get(key) ?? [];
  }

  attempted(key: string, body: Buffer): void {
    const known = this.#candidates.get(key);
    if (known === undefined) this.#candidates.set(key, [body]);
    else if (!known.some((one) => one.equals(body))) known.push(body);
  }

  /** All that a store can make of an upload: for each part that Complete names, any that was sent under its number. */
  completeAttempted({ key, parts }: AttemptedUpload, numbers: readonly number[]): void {
    let products: Buffer[] = [Buffer.alloc(0)];
    for (const number of numbers) {
      const versions = parts.get(number) ?? [];
      products = products.flatMap((start) => versions.map(({ body }) => Buffer.concat([start, body])));
    }
    for (const product of products) this.attempted(key, product);
  }

  copyAttempted(from: string, to: string, deny: boolean): void {
    for (const body of this.copied(from, deny)) this.attempted(to, body);
  }

  /** What a copy of that source can be made of. */
  copied(from: string, deny: boolean): readonly Buffer[] {
    return deny ? this.candidates(from) : [...this.candidates(from), ...(this.bare.get(from) ?? [])];
  }

  gaveBare(key: string, body: Buffer): void {
    const known = this.bare.get(key);
    if (known === undefined) this.bare.set(key, [body]);
    else known.push(body);
  }
}
