import type { ObjectName } from '../../../core/envelope/binding.ts';
import type { PartList } from '../../../core/envelope/manifest.ts';
import type { Envelope } from '../../../core/envelope/metadata.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';

/** Where an object is and what the store wants with every request for it. */
export interface ObjectAddress {
  readonly name: ObjectName;
  readonly versionId: string | undefined;
  /** Headers such as customer keys and requester pays. */
  readonly access: Readonly<Record<string, string>>;
}

/** A stored object whose headers are known and whose body is not yet being read. */
export interface StoredObject extends ObjectAddress {
  /** The store's headers of the object as HEAD gives them. */
  readonly headers: UpstreamResponse['headers'];
  /** The store's ETag, quoted, as it came. */
  readonly etag: string;
  /** Undefined for an object that svc did not encrypt. */
  readonly envelope: Envelope | undefined;
  readonly storedSize: number;
}

/**
 * Where the plaintext of an object lies in its stored body; sizes agree with the length that the store claims,
 * which only reading or a part list can confirm.
 */
export interface ObjectLayout {
  /** Plaintext bytes. */
  readonly size: number;
  /** The verified part list of a multipart object. */
  readonly list: PartList | undefined;
}

/** Inclusive plaintext offsets. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface StatOptions {
  readonly versionId?: string | undefined;
  /** Conditions, with ETags already inward. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly access?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Called when the reader of this plaintext is so slow that others cannot get memory. */
  readonly evict?: (reason: Error) => void;
}

/** Reads objects of the store as plaintext that was authenticated before it is given out, as the configuration demands. */
export interface ObjectReader {
  /**
   * HEAD. @throws S3Error with the store's status when it refuses (304 comes as 412), EnvelopeError as `describe`.
   */
  stat(name: ObjectName, options: StatOptions): Promise<StoredObject>;
  /**
   * What the headers of a GET or HEAD answer say about the object.
   * @throws EnvelopeError `partial-metadata`, `malformed-metadata`, and `unencrypted` where such reads are denied.
   */
  describe(address: ObjectAddress, headers: UpstreamResponse['headers']): StoredObject;
  /**
   * Loads the part list where there is one.
   * @throws EnvelopeError `wrong-size` when the stored length does not fit, and what Manifests.load throws.
   */
  layout(object: StoredObject, signal?: AbortSignal): Promise<ObjectLayout>;
  /** The whole plaintext from a GET's answer that is under way; takes charge of its body. */
  decrypt(
    object: StoredObject,
    layout: ObjectLayout,
    response: UpstreamResponse,
    options: ReadOptions,
  ): AsyncIterable<Buffer>;
  /**
   * The plaintext of `range` (default: everything), fetched from the store under the object's ETag.
   * The iteration ends without error only when every byte given out was authenticated. Chunks are
   * valid until the next is asked for.
   * @throws ObjectChanged when the object is no longer the one that `object` describes.
   */
  plaintext(
    object: StoredObject,
    layout: ObjectLayout,
    range: ByteRange | undefined,
    options: ReadOptions,
  ): AsyncIterable<Buffer>;
  /**
   * Resolves when `layout.size` is authentic: a part list is sealed, but of a body in one piece only its tag
   * vouches for the length, so that all of it is read.
   * @throws EnvelopeError `wrong-size`, `authentication-failed`; ObjectChanged.
   */
  verifySize(object: StoredObject, layout: ObjectLayout, options: ReadOptions): Promise<void>;
  /** Frees what is kept on disk. */
  close(): void;
}
