import type { ObjectServices } from '../context.ts';
import type { SegmentedPart } from '../format/body-format.ts';
import { BodyKeys } from '../format/body-keys.ts';
import { coveringSegments, segmentBytes, segmentedSize } from '../format/segments.ts';
import { type EncryptedPart, type PartTarget, partQuery } from '../multipart/upload-part.ts';
import { accessHeaders } from '../read/read-request.ts';
import { segmentedDek } from '../read/segmented-reads.ts';
import { type ByteRange, ObjectChanged } from '../read/stored-object.ts';
import { S3Error } from '../s3/error.ts';
import { unquote } from '../s3/headers.ts';
import type { DocumentShape } from '../s3/xml-document.ts';
import { storedPart } from '../state/listings.ts';
import { xmlResult } from '../upstream/upstream.ts';
import { type CopyRequest, copyHeaders, type SourceObject } from './copy-request.ts';

const answerLimit = 64 * 1024;
const copyPartResult: DocumentShape = { root: 'CopyPartResult', fields: ['ETag', 'ChecksumCRC32'] };

/** What is known of a part that the store copied; its plaintext never passed through the proxy. */
type CopiedPart = Pick<EncryptedPart, 'entry' | 'commitment' | 'etag' | 'checksum' | 'sealed'>;

/**
 * Has the store copy segments unchanged into a part of a format 2 upload: the part's entry gets the key of the body
 * that the segments come from. No body passes through the proxy.
 * @returns undefined if the range must be encrypted anew: other formats, ranges that cut a segment or cross the end of
 *   a part, a requested checksum, customer keys, and stores that refuse the copy or store another length
 * @throws ObjectChanged; EnvelopeError `wrong-commitment`; S3Error of the store; VaultError
 */
export async function copySegments(
  services: ObjectServices,
  copy: CopyRequest,
  source: SourceObject,
  range: ByteRange | undefined,
  target: PartTarget,
  signal: AbortSignal,
): Promise<CopiedPart | undefined> {
  const wanted = wantedSegments(source, range);
  if (wanted === undefined || !mayCopy(copy, target)) return undefined;
  const entry = await entryOf(services, source, wanted, target, signal);
  const answer = await copyInStore(services, copy, source, wanted, target, signal);
  if (answer === undefined || !(await wasTaken(services, target, answer.etag, wanted, signal)))
    return undefined;
  return { ...entry, sealed: undefined, ...answer };
}

/** The part's list entry and its commitment, for the part's record. */
async function entryOf(
  services: ObjectServices,
  source: SourceObject,
  wanted: WantedSegments,
  { record, number: n }: PartTarget,
  signal: AbortSignal,
): Promise<Pick<CopiedPart, 'entry' | 'commitment'>> {
  const keys = await keysOf(services, source, wanted.body, signal);
  try {
    const dek = await services.uploadKeys.dek(record, signal);
    try {
      const entry = { n, size: wanted.size, salt: keys.copiedTo(dek, n, wanted) };
      return { entry, commitment: commitmentOf(dek, entry) };
    } finally {
      dek.fill(0);
    }
  } finally {
    keys.wipe();
  }
}

/** A checksum would need the plaintext; with SSE-C the store cannot be asked again who may read the source. */
const mayCopy = ({ headers, copyAccess }: CopyRequest, { record }: PartTarget): boolean =>
  record.format === 2 &&
  record.checksum === undefined &&
  ![...Object.keys(headers), ...Object.keys(copyAccess)].some((name) => name.includes('-customer-'));

interface WantedSegments {
  readonly body: SegmentedPart;
  /** Index of the first segment in its body. */
  readonly first: number;
  /** Whether the last segment ends the body. */
  readonly ends: boolean;
  /** Plaintext bytes. */
  readonly size: number;
  /** Range in the stored object; undefined: the whole object. */
  readonly stored: ByteRange | undefined;
}

/** Finds the body whose whole segments make up `range`; undefined for an empty range and any other. */
function wantedSegments(
  { object, layout }: SourceObject,
  range: ByteRange = { start: 0, end: layout.size - 1 },
): WantedSegments | undefined {
  let [before, storedBefore] = [0, 0];
  for (const body of bodiesOf({ object, layout })) {
    const { size } = body;
    const [skip, take] = [range.start - before, range.end - range.start + 1];
    if (skip < size) {
      const ends = skip + take === size;
      const whole = skip % segmentBytes === 0 && (ends || (skip + take) % segmentBytes === 0);
      if (!whole || take < 1 || skip + take > size) return undefined;
      const { first, from, to } = coveringSegments(size, skip, take);
      const stored = { start: storedBefore + from, end: storedBefore + to - 1 };
      const all = stored.start === 0 && stored.end === object.storedSize - 1;
      return { body, first, ends, size: take, stored: all ? undefined : stored };
    }
    before += size;
    storedBefore += segmentedSize(size);
  }
  return undefined;
}

/** The segmented bodies of an object in format 2; none in other formats. */
function bodiesOf({ object, layout }: SourceObject): readonly SegmentedPart[] {
  if (layout.list !== undefined) return layout.list.format === 2 ? layout.list.parts : [];
  const derivation = object.envelope?.derivation;
  return derivation === undefined ? [] : [{ n: 0, salt: derivation.salt, size: layout.size }];
}

/**
 * Keys of a source body. Only a single body's commitment is checked here: a part list was verified when it was read.
 */
async function keysOf(
  services: ObjectServices,
  { object, layout }: SourceObject,
  { n, salt }: WantedSegments['body'],
  signal: AbortSignal,
): Promise<BodyKeys> {
  const dek = await segmentedDek(services.keys, object, layout, signal);
  try {
    return layout.list === undefined
      ? BodyKeys.committed(dek, object.envelope?.derivation, layout.size)
      : new BodyKeys(dek, salt, n);
  } finally {
    dek.fill(0);
  }
}

function commitmentOf(dek: Buffer, { n, salt, size }: SegmentedPart): string {
  const keys = new BodyKeys(dek, salt, n);
  try {
    return keys.commitment(size);
  } finally {
    keys.wipe();
  }
}

/** For a source in parts, versitygw reports the checksum of the whole, followed by the number of parts. */
const isOfPart = (checksum: string | undefined): boolean => /^[A-Za-z0-9+/]{6}==$/.test(checksum ?? '');

/**
 * Undefined if the store refuses: its complaint about source or upload comes up again when the part is written. MinIO
 * copies no part into an upload whose parts have checksums, because it expects the caller to supply one for each part.
 */
async function copyInStore(
  { upstream, config }: ObjectServices,
  copy: CopyRequest,
  { object }: SourceObject,
  { stored }: WantedSegments,
  { record, number }: PartTarget,
  signal: AbortSignal,
): Promise<Pick<CopiedPart, 'etag' | 'checksum'> | undefined> {
  const { bucket, key } = record;
  const response = await upstream.send({
    method: 'PUT',
    bucket,
    key,
    query: partQuery(record, number),
    headers: {
      ...accessHeaders(copy.headers),
      ...copyHeaders(copy, object.etag),
      ...(stored && { 'x-amz-copy-source-range': `bytes=${stored.start}-${stored.end}` }),
    },
    signal,
  });
  try {
    const { top } = await xmlResult(response, copyPartResult, answerLimit);
    const [etag, checksum] = [top.get('ETag'), top.get('ChecksumCRC32')];
    // without it, Complete could not name the part's checksum
    const usable = config.upstreamChecksum === 'none' || isOfPart(checksum);
    return etag !== undefined && usable ? { etag: unquote(etag), checksum } : undefined;
  } catch (error) {
    if (!(error instanceof S3Error) || error.status >= 500) throw error;
    if (error.status === 412) throw new ObjectChanged();
    return undefined;
  }
}

/**
 * Whether the stored part has the expected length. If the store ignored the range, only readers would notice, perhaps
 * after the source is gone.
 */
async function wasTaken(
  { upstream }: ObjectServices,
  { record, number }: PartTarget,
  etag: string,
  { size }: WantedSegments,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    const part = await storedPart(upstream, record, number, signal);
    // where another request has replaced the part, this record no longer belongs to any
    return part !== undefined && (part.etag !== etag || part.size === segmentedSize(size));
  } catch (error) {
    if (error instanceof S3Error && error.status < 500) return false;
    throw error;
  }
}
