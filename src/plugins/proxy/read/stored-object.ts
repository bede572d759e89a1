import { EnvelopeError, overheadBytes, plaintextSize } from '../../../core/envelope/cipher.ts';
import { type EnvelopeFormat, storedListSize } from '../../../core/envelope/manifest.ts';
import { type Envelope, type ObjectName, readEnvelope } from '../../../core/envelope/metadata.ts';
import { plaintextOfSegments } from '../../../core/envelope/segments.ts';
import type { WholeChecksum } from '../../../core/s3/checksum.ts';
import { S3Error } from '../../../core/s3/error.ts';
import type { ProxyConfig } from '../config.ts';
import type { ListUser } from '../multipart/lists-in-use.ts';
import type { Manifests, VerifiedList } from '../multipart/manifest-store.ts';
import { refusal, type Upstream, type UpstreamResponse } from '../upstream/upstream.ts';

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
  /** Bytes of the stored body; a seal in the metadata counts as if it were the body. */
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
  readonly list: VerifiedList | undefined;
  /** In format 2 the DEK, where the list was opened for this very request, at whose end it is zeroed. */
  readonly dek?: Buffer;
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
  /** Whether the kept checksum of a small object is wanted with it. */
  readonly checksum?: boolean;
}

/** What is kept of a plaintext beside its key. */
export interface KeptDigests {
  readonly checksum?: WholeChecksum | undefined;
  /** As the caller named it. */
  readonly md5?: string | undefined;
}

/** A small plaintext in one piece. */
export interface SmallObject {
  readonly plaintext: Buffer;
  /** As `digests` gives them, where they were asked for. */
  readonly digests: KeptDigests;
  /** To be called when the plaintext has served. */
  readonly done: () => void;
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
   * Loads the part list where there is one; it may be used until the request ends.
   * @throws EnvelopeError `wrong-size` when the stored length does not fit, and what Manifests.load throws.
   */
  layout(object: StoredObject, user: ListUser): Promise<ObjectLayout>;
  /** The whole plaintext from a GET's answer that is under way; takes charge of its body. */
  decrypt(
    object: StoredObject,
    layout: ObjectLayout,
    response: UpstreamResponse,
    options: ReadOptions,
  ): AsyncIterable<Buffer>;
  /**
   * The same at once, where the object is in one piece, small, and there is memory for it; undefined for others, of which
   * `decrypt` takes charge.
   */
  decryptSmall(
    object: StoredObject,
    layout: ObjectLayout,
    response: UpstreamResponse,
    options: ReadOptions,
  ): Promise<SmallObject> | undefined;
  /**
   * A range at once, from an answer that holds just the segments that cover it, of an object in format 2 and in one
   * piece; undefined where there is no memory for it.
   */
  decryptCovered(
    object: StoredObject,
    layout: ObjectLayout,
    range: ByteRange,
    response: UpstreamResponse,
    options: ReadOptions,
  ): Promise<SmallObject> | undefined;
  /**
   * What is kept of an object's plaintext beside its key.
   * @throws EnvelopeError `record-forged`
   */
  digests(object: StoredObject, layout: ObjectLayout, signal: AbortSignal): Promise<KeptDigests>;
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

/** @throws EnvelopeError `partial-metadata`, `malformed-metadata`, `unencrypted`, `wrong-size`. */
export function describe(
  { unencryptedReads }: Pick<ProxyConfig, 'unencryptedReads'>,
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

/** The object was replaced between two requests for it; reading it anew helps. */
export class ObjectChanged extends S3Error {
  constructor() {
    super('ServiceUnavailable', 503, 'The object changed while it was read. Please retry.');
  }
}

/** @throws EnvelopeError `wrong-size`, and what Manifests.load throws. */
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
  const size = plaintextOf(stored, format);
  if (size === undefined) throw wrongSize();
  return { size, list: undefined };
}

/** @returns undefined where no stored body of that format has that length */
const plaintextOf = (stored: number, format: EnvelopeFormat | undefined): number | undefined =>
  format === 2 ? plaintextOfSegments(stored) : plaintextSize(stored);

function listLayout(stored: number, list: VerifiedList): ObjectLayout {
  if (storedListSize(list) !== stored) throw wrongSize();
  let size = 0;
  for (const part of list.parts) size += part.size;
  return { size, list };
}

/** Lists longer than this do not fit into a header, so there is no need to load them to show them. */
const showable = 20;

/**
 * The plaintext size as far as headers tell it without a part list: in format 1 by the form
 * of the store's ETag, `…-<parts>`, for a multipart object with many parts.
 */
export function apparentSize({ envelope, storedSize: stored, etag }: StoredObject): number | undefined {
  if (envelope === undefined) return stored;
  if (envelope.keys.form === 'single') return plaintextOf(stored, envelope.format);
  if (envelope.keys.form === 'inline' || envelope.format === 2) return undefined;
  const parts = Number(/-(\d{1,5})"?$/.exec(etag)?.[1]);
  const size = stored - parts * overheadBytes;
  return parts > showable && size >= 0 ? size : undefined;
}

const wrongSize = () =>
  new EnvelopeError('wrong-size', 'the length of the stored body is not what its metadata says');

/** Query parameters that name the object's version. */
export const versionQuery = ({ versionId }: ObjectAddress): [string, string][] =>
  versionId === undefined ? [] : [['versionId', versionId]];

/**
 * Bytes of the stored object (default: all), if it is still the same.
 * @throws ObjectChanged, EnvelopeError `wrong-size` when the store answers other bytes, S3Error.
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

/** Whether anything has to be opened for an answer: an MD5 is metadata, which every answer has. */
export const asksForDigests = ({ envelope }: StoredObject, checksum: boolean): boolean =>
  envelope !== undefined &&
  (envelope.md5 !== undefined ||
    (checksum && (envelope.checksum !== undefined || envelope.keys.form !== 'single')));
