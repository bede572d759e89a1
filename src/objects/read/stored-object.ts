import type { ObjectsConfig } from '../config.ts';
import type { EnvelopeFormat } from '../format/body-format.ts';
import { EnvelopeError, overheadBytes } from '../format/cipher.ts';
import { bodyFormat } from '../format/formats.ts';
import { storedListSize } from '../format/manifest.ts';
import { type Envelope, type ObjectName, readEnvelope } from '../format/metadata.ts';
import type { ListUser } from '../multipart/lists-in-use.ts';
import type { Manifests, VerifiedList } from '../multipart/manifest-store.ts';
import type { WholeChecksum } from '../s3/checksum.ts';
import { S3Error } from '../s3/error.ts';
import { refusal, type Upstream, type UpstreamResponse } from '../upstream/upstream.ts';

/** Name of an object, and what the store needs on every request for it. */
export interface ObjectAddress {
  readonly name: ObjectName;
  readonly versionId: string | undefined;
  /** Headers such as customer keys and requester pays. */
  readonly access: Readonly<Record<string, string>>;
}

/** A stored object whose headers are known and whose body is not being read yet. */
export interface StoredObject extends ObjectAddress {
  /** The store's headers of the object, as in a HEAD response. */
  readonly headers: UpstreamResponse['headers'];
  /** The store's ETag, quoted. */
  readonly etag: string;
  /** Undefined for an object that svc did not encrypt. */
  readonly envelope: Envelope | undefined;
  /** Bytes of the stored body; a seal in the metadata counts as the body. */
  readonly storedSize: number;
}

/**
 * Layout of an object's plaintext in its stored body. Sizes match the length that the store claims, which only a part
 * list or reading can authenticate.
 */
export interface ObjectLayout {
  /** Plaintext bytes. */
  readonly size: number;
  /** The verified part list of a multipart object. */
  readonly list: VerifiedList | undefined;
  /** The DEK in format 2 if the list was opened for this request; zeroed when the request ends. */
  readonly dek?: Buffer;
}

/** Inclusive plaintext offsets. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface StatOptions {
  readonly versionId?: string | undefined;
  /** Conditions, with ETags already converted to the store's. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly access?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Called if the reader of this plaintext is so slow that others cannot get memory. */
  readonly evict?: (reason: Error) => void;
  /** Whether the caller wants the kept checksum of a small object. */
  readonly checksum?: boolean;
}

/** Digests of a plaintext that are kept beside its key. */
export interface KeptDigests {
  readonly checksum?: WholeChecksum | undefined;
  /** As the caller named it. */
  readonly md5?: string | undefined;
}

/** The plaintext of a small object in one piece. */
export interface SmallObject {
  readonly plaintext: Buffer;
  /** The same as `digests` returns, if requested. */
  readonly digests: KeptDigests;
  /** Call it when the plaintext is no longer needed. */
  readonly done: () => void;
}

/** Reads stored objects. Plaintext is authenticated before it is handed out, as the configuration demands. */
export interface ObjectReader {
  /** HEAD. @throws S3Error with the store's status if it refuses (412 in place of 304), EnvelopeError as `describe` */
  stat(name: ObjectName, options: StatOptions): Promise<StoredObject>;
  /**
   * Parses the headers of a GET or HEAD response.
   * @throws EnvelopeError `partial-metadata`, `malformed-metadata`, `wrong-size`, and `unencrypted` if such reads are
   *   denied
   */
  describe(address: ObjectAddress, headers: UpstreamResponse['headers']): StoredObject;
  /**
   * Loads the part list if there is one; valid until the request ends.
   * @throws EnvelopeError `wrong-size` if the stored length does not fit; errors of Manifests.load
   */
  layout(object: StoredObject, user: ListUser): Promise<ObjectLayout>;
  /** The whole plaintext of a GET response in progress; takes ownership of its body. */
  decrypt(
    object: StoredObject,
    layout: ObjectLayout,
    response: UpstreamResponse,
    options: ReadOptions,
  ): AsyncIterable<Buffer>;
  /**
   * The same in one step, for a small object in one piece if memory is available; undefined otherwise, and then
   * `decrypt` takes the body.
   */
  decryptSmall(
    object: StoredObject,
    layout: ObjectLayout,
    response: UpstreamResponse,
    options: ReadOptions,
  ): Promise<SmallObject> | undefined;
  /**
   * A range in one step, from a response with exactly the segments that cover it, for a format 2 object in one piece;
   * undefined if memory is short.
   */
  decryptCovered(
    object: StoredObject,
    layout: ObjectLayout,
    range: ByteRange,
    response: UpstreamResponse,
    options: ReadOptions,
  ): Promise<SmallObject> | undefined;
  /**
   * Digests that are kept beside the object's key.
   * @throws EnvelopeError `record-forged`
   */
  digests(object: StoredObject, layout: ObjectLayout, signal: AbortSignal): Promise<KeptDigests>;
  /**
   * The plaintext of `range` (default: everything), fetched under the object's ETag. The iteration ends without error
   * only if every byte yielded was authenticated. Chunks are valid until the next is requested.
   * @throws ObjectChanged if the object is no longer the one that `object` describes
   */
  plaintext(
    object: StoredObject,
    layout: ObjectLayout,
    range: ByteRange | undefined,
    options: ReadOptions,
  ): AsyncIterable<Buffer>;
  /**
   * Resolves once `layout.size` is authentic. A part list is sealed, but a single body has to be read in full, because
   * only its tag authenticates the length.
   * @throws EnvelopeError `wrong-size`, `authentication-failed`; ObjectChanged
   */
  verifySize(object: StoredObject, layout: ObjectLayout, options: ReadOptions): Promise<void>;
  /** Frees disk space. */
  close(): void;
}

/** What reads bodies of one format. */
export type BodyReads = Pick<ObjectReader, 'decrypt' | 'plaintext' | 'verifySize'>;

/** @throws EnvelopeError `partial-metadata`, `malformed-metadata`, `unencrypted`, `wrong-size` */
export function describe(
  { unencryptedReads }: Pick<ObjectsConfig, 'unencryptedReads'>,
  { name, versionId, access }: ObjectAddress,
  headers: UpstreamResponse['headers'],
): StoredObject {
  const envelope = readEnvelope(headers);
  if (envelope === undefined && unencryptedReads === 'deny')
    throw new EnvelopeError('unencrypted', 'the object is not encrypted and --unencrypted-reads is deny');
  const length = Number(headers['content-length'] ?? Number.NaN);
  if (!Number.isSafeInteger(length))
    throw new EnvelopeError('wrong-size', 'the store does not say how long the object is');
  if (envelope?.emptySeal !== undefined && length !== 0) throw wrongSize();
  const storedSize = envelope?.emptySeal === undefined ? length : overheadBytes;
  return { name, versionId, access, headers, etag: headers.etag ?? '', envelope, storedSize };
}

/** The object was replaced between two requests; reading it again helps. */
export class ObjectChanged extends S3Error {
  constructor() {
    super('ServiceUnavailable', 503, 'The object changed while it was read. Please retry.');
  }
}

/** @throws EnvelopeError `wrong-size`; errors of Manifests.load */
export async function loadLayout(
  manifests: Manifests,
  object: StoredObject,
  user: ListUser,
): Promise<ObjectLayout> {
  const { envelope } = object;
  if (envelope === undefined) return { size: object.storedSize, list: undefined };
  if (envelope.keys.form === 'single') return singleLayout(object.storedSize, envelope.format);
  let dek: Buffer | undefined;
  const list = await manifests.load(object.name, envelope, user, (opened) => {
    dek = opened;
    user.atEnd(() => opened.fill(0));
  });
  return { ...listLayout(object.storedSize, list), ...(dek !== undefined && { dek }) };
}

function singleLayout(stored: number, format: EnvelopeFormat | undefined): ObjectLayout {
  const size = bodyFormat(format).plaintextSize(stored);
  if (size === undefined) throw wrongSize();
  return { size, list: undefined };
}

function listLayout(stored: number, list: VerifiedList): ObjectLayout {
  if (storedListSize(list) !== stored) throw wrongSize();
  let size = 0;
  for (const part of list.parts) size += part.size;
  return { size, list };
}

/** Longer lists do not fit into a header, so they need not be loaded to be shown. */
const showable = 20;

/**
 * The plaintext size as far as headers tell without a part list. In format 1, a multipart object with many parts shows
 * their number in the store's ETag, `…-<parts>`.
 */
export function apparentSize({ envelope, storedSize: stored, etag }: StoredObject): number | undefined {
  if (envelope === undefined) return stored;
  const { derived, plaintextSize } = bodyFormat(envelope.format);
  if (envelope.keys.form === 'single') return plaintextSize(stored);
  if (envelope.keys.form === 'inline' || derived) return undefined;
  const parts = Number(/-(\d{1,5})"?$/.exec(etag)?.[1]);
  const size = stored - parts * overheadBytes;
  return parts > showable && size >= 0 ? size : undefined;
}

const wrongSize = () =>
  new EnvelopeError('wrong-size', 'the length of the stored body is not what its metadata says');

export const versionQuery = ({ versionId }: ObjectAddress): [string, string][] =>
  versionId === undefined ? [] : [['versionId', versionId]];

/**
 * Fetches bytes of the stored object (default: all), if it has not changed.
 * @throws ObjectChanged, EnvelopeError `wrong-size` if the store answers other bytes, S3Error
 */
export async function fetchStored(
  upstream: Upstream,
  object: StoredObject,
  range: ByteRange | undefined,
  signal: AbortSignal,
): Promise<UpstreamResponse> {
  const headers = { ...object.access, 'if-match': object.etag, ...rangeHeader(range) };
  const response = await upstream.send({
    method: 'GET',
    ...object.name,
    query: versionQuery(object),
    headers,
    signal,
  });
  if (response.status === 412) {
    response.body.resume();
    throw new ObjectChanged();
  }
  if (response.status >= 300) throw await refusal(response);
  return checked(response, range === undefined ? object.storedSize : range.end - range.start + 1, range);
}

const rangeHeader = (range: ByteRange | undefined): Record<string, string> =>
  range === undefined ? {} : { range: `bytes=${range.start}-${range.end}` };

function checked(response: UpstreamResponse, bytes: number, range: ByteRange | undefined): UpstreamResponse {
  const { status, headers, body } = response;
  const place = /^bytes (\d+)-/.exec(headers['content-range'] ?? '')?.[1];
  const right = range === undefined ? status === 200 : status === 206 && Number(place) === range.start;
  if (right && Number(headers['content-length']) === bytes) return response;
  body.destroy();
  throw new EnvelopeError('wrong-size', 'the store answered other bytes than it was asked for');
}

/** Whether answering takes opening digests: an MD5 is metadata, which every answer includes. */
export const asksForDigests = ({ envelope }: StoredObject, checksum: boolean): boolean =>
  envelope !== undefined &&
  (envelope.md5 !== undefined ||
    (checksum && (envelope.checksum !== undefined || envelope.keys.form !== 'single')));
