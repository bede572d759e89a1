/** What a store keeps under one key. */
export interface StoredVersion {
  readonly body: Buffer;
  /** Metadata and descriptions, lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Quoted. */
  readonly etag: string;
  readonly modified: Date;
}

export interface StoredPart {
  readonly body: Buffer;
  readonly etag: string;
}

export interface OpenUpload {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly parts: Map<number, StoredPart>;
  /** Every part that was ever sent, for stores that give out an older one. */
  readonly every: { readonly number: number; readonly part: StoredPart }[];
}

/** One case's share of the store. */
export class StoredBucket {
  readonly objects = new Map<string, StoredVersion>();
  /** Everything that was ever stored under a key, the current version last. */
  readonly history = new Map<string, StoredVersion[]>();
  readonly uploads = new Map<string, OpenUpload>();
  uploadCount = 0;

  put(key: string, version: StoredVersion): void {
    this.objects.set(key, version);
    const earlier = this.history.get(key);
    if (earlier) earlier.push(version);
    else this.history.set(key, [version]);
  }
}

/** A request as the store understands it. */
export interface StoreRequest {
  readonly method: string;
  readonly bucket: string;
  readonly key: string;
  readonly query: ReadonlyMap<string, string>;
  readonly headers: Readonly<Record<string, string>>;
  /** Without the framing of aws-chunked. */
  readonly body: Buffer;
}

/** An answer before it is put on the wire. */
export interface StoreReply {
  readonly status: number;
  /** In order; a name may stand more than once. No length and no framing. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

export const header = (reply: StoreReply, name: string): string | undefined =>
  reply.headers.find(([one]) => one.toLowerCase() === name)?.[1];

/** With that header instead of all of its name; undefined takes it away. */
export function withHeader(reply: StoreReply, name: string, value: string | undefined): StoreReply {
  const headers = reply.headers.filter(([one]) => one.toLowerCase() !== name);
  return { ...reply, headers: value === undefined ? headers : [...headers, [name, value]] };
}
