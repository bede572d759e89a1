import { ownBuffer, release } from '../../runtime/memory.ts';
import type { ObjectServices } from '../context.ts';
import { BodyKeys } from '../format/body-keys.ts';
import {
  coveringSegments,
  openSpan,
  type SegmentSpan,
  segmentBytes,
  segmentedSize,
  storedSegmentBytes,
} from '../format/segments.ts';
import type { DataKeys } from '../keys/data-keys.ts';
import type { ResponseBody } from '../net/http1-response-body.ts';
import { coveringParts, type PartSlice } from '../s3/range.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';
import { type BodySlice, cut, singleKey, within } from './body/sealed-body.ts';
import {
  type BodyReads,
  type ByteRange,
  fetchStored,
  type ObjectLayout,
  type ReadOptions,
  type StoredObject,
} from './stored-object.ts';

/**
 * Reads objects in format 2, whose plaintext is authenticated segment by segment before it is yielded. So neither
 * memory for whole bodies nor a disk is needed, and a range takes only the segments that cover it.
 */
export class SegmentedReads implements BodyReads {
  readonly #parts: SegmentedReadParts;

  constructor(parts: SegmentedReadParts) {
    this.#parts = parts;
  }

  /** The whole plaintext, from a body that has just begun to arrive. */
  async *decrypt(
    object: StoredObject,
    layout: ObjectLayout,
    { body: reader }: UpstreamResponse,
    { signal }: ReadOptions,
  ): AsyncGenerator<Buffer, void> {
    const whole = { start: 0, end: layout.size - 1 };
    try {
      yield* this.#inOrder(
        object,
        layout,
        whole,
        reader,
        segmentedDek(this.#parts.keys, object, layout, signal),
      );
    } finally {
      reader.close();
    }
  }

  /** Fetches `range` by one request, because its segments are adjacent even across parts. */
  async *plaintext(
    object: StoredObject,
    layout: ObjectLayout,
    range: ByteRange = { start: 0, end: layout.size - 1 },
    { signal }: ReadOptions,
  ): AsyncGenerator<Buffer, void> {
    const dek = segmentedDek(this.#parts.keys, object, layout, signal);
    dek.catch(() => undefined);
    const stored = storedRange(object, layout, range);
    const reader = stored && (await this.#fetch(object, stored, dek, signal)).body;
    try {
      yield* this.#inOrder(object, layout, range, reader, dek);
    } finally {
      reader?.close();
    }
  }

  /** A part list is sealed; the length of a single body is authenticated by its commitment. */
  async verifySize(object: StoredObject, layout: ObjectLayout, { signal }: ReadOptions): Promise<void> {
    if (layout.list !== undefined) return;
    const dek = await segmentedDek(this.#parts.keys, object, layout, signal);
    try {
      BodyKeys.committed(dek, object.envelope?.derivation, layout.size).wipe();
    } finally {
      dek.fill(0);
    }
  }

  /** The DEK is requested concurrently, and zeroed if the body does not come. */
  async #fetch(
    object: StoredObject,
    stored: ByteRange,
    dek: Promise<Buffer>,
    signal: AbortSignal,
  ): Promise<UpstreamResponse> {
    const whole = stored.start === 0 && stored.end === object.storedSize - 1;
    try {
      return await fetchStored(this.#parts.upstream, object, whole ? undefined : stored, signal);
    } catch (error) {
      dek.then((key) => key.fill(0)).catch(() => undefined);
      throw error;
    }
  }

  async *#inOrder(
    object: StoredObject,
    layout: ObjectLayout,
    range: ByteRange,
    reader: ResponseBody | undefined,
    unwrapped: Promise<Buffer>,
  ): AsyncGenerator<Buffer, void> {
    const dek = await unwrapped;
    try {
      for (const { keys, slice } of wantedBodies(object, layout, range, dek)) {
        try {
          if (reader !== undefined) yield* verifiedSegments(reader, keys, slice);
          this.#parts.metrics.bytes('decrypted', slice.take);
        } finally {
          keys.wipe();
        }
      }
    } finally {
      dek.fill(0);
    }
  }
}

/**
 * The DEK of an object in format 2; the caller zeroes it. For an upload it is already at hand if its list has just been
 * opened under it.
 */
export async function segmentedDek(
  keys: DataKeys,
  object: StoredObject,
  { list, dek }: ObjectLayout,
  signal: AbortSignal,
): Promise<Buffer> {
  if (list === undefined) return singleKey(keys, object, signal)();
  if (dek !== undefined) {
    const copy = ownBuffer(dek.length);
    copy.set(dek);
    return copy;
  }
  if (object.envelope === undefined) throw new TypeError('the object has no keys');
  const purpose = { kind: 'seal', upload: list.manifest, format: 2 } as const;
  const [key] = await keys.unwrap(object.name, object.envelope, [{ wrapped: list.seal, purpose }], signal);
  return key as Buffer;
}

type SegmentedReadParts = Pick<ObjectServices, 'keys' | 'upstream' | 'metrics'>;

/**
 * Opens a range of an object in one piece.
 * @param stored exactly the segments that cover the range
 * @throws EnvelopeError `wrong-commitment`, `authentication-failed`
 */
export function openCovering(
  object: StoredObject,
  { size }: ObjectLayout,
  { start, end }: ByteRange,
  stored: Buffer,
  dek: Buffer,
): Buffer {
  const slice = { skip: start, take: end - start + 1 };
  const span = coveringSegments(size, slice.skip, slice.take);
  const keys = BodyKeys.committed(dek, object.envelope?.derivation, size);
  const plaintext = Buffer.allocUnsafeSlow(slice.take);
  let offset = span.first * segmentBytes;
  let filled = 0;
  try {
    for (const piece of openSpan(keys, stored, span, size)) {
      filled += within(piece, offset, slice).copy(plaintext, filled);
      offset += piece.length;
      release(piece);
    }
    return plaintext;
  } finally {
    keys.wipe();
  }
}

interface WantedBody {
  readonly keys: BodyKeys;
  readonly slice: SegmentedSlice;
}

function* wantedBodies(
  object: StoredObject,
  layout: ObjectLayout,
  range: ByteRange,
  dek: Buffer,
): Generator<WantedBody, void> {
  const { size, list } = layout;
  if (list?.format !== 2) {
    const slice = { size, skip: range.start, take: range.end - range.start + 1 };
    yield { keys: BodyKeys.committed(dek, object.envelope?.derivation, layout.size), slice };
    return;
  }
  for (const { index, skip, take } of coveringParts(list.parts, range, segmentedSize)) {
    const part = list.parts[index] as (typeof list.parts)[0];
    yield { keys: new BodyKeys(dek, part.salt, part.n), slice: { size: part.size, skip, take } };
  }
}

/** Range of the covering segments in the stored object; undefined for an empty range. */
function storedRange(
  { storedSize }: StoredObject,
  { size, list }: ObjectLayout,
  range: ByteRange,
): ByteRange | undefined {
  if (range.end < range.start) return undefined;
  const sizes = list?.parts ?? [{ size }];
  let start = storedSize;
  let end = 0;
  for (const slice of coveringParts(sizes, range, segmentedSize)) {
    const { from, to } = storedSpan(sizes[slice.index] as { size: number }, slice satisfies PartSlice);
    start = Math.min(start, slice.cipherStart + from);
    end = slice.cipherStart + to - 1;
  }
  return end < start ? undefined : { start, end };
}

/** A slice of a body with `size` bytes of plaintext. */
interface SegmentedSlice extends BodySlice {
  readonly size: number;
}

/** Position of the segments that cover the slice. */
const storedSpan = ({ size }: { readonly size: number }, { skip, take }: BodySlice): SegmentSpan =>
  coveringSegments(size, skip, take);

/** Number of segments yielded as one chunk if they have arrived; larger chunks cost less. */
const maxAtOnce = 5;

/**
 * Decrypts the segments of a slice; `reader` is at the first one. Each segment is read in full before it is opened.
 * Chunks are valid until the next is requested.
 * @throws EnvelopeError `authentication-failed`, `wrong-size`
 */
async function* verifiedSegments(
  reader: ResponseBody,
  keys: BodyKeys,
  slice: SegmentedSlice,
): AsyncGenerator<Buffer, void> {
  const { first, end, from, to } = storedSpan(slice, slice);
  const block = Buffer.allocUnsafeSlow(Math.min(maxAtOnce * storedSegmentBytes, to - from));
  let held = 0;
  let isLent = false;
  try {
    for (let index = first; index < end; ) {
      const left = to - index * storedSegmentBytes;
      const least = Math.min(left, storedSegmentBytes);
      held += await reader.fill(block.subarray(held, left), least - held);
      if (held < least) throw cut();
      const next = held === left ? end : index + Math.floor(held / storedSegmentBytes);
      const whole = Math.min(left, (next - index) * storedSegmentBytes);
      const span = { first: index, end: next };
      const plaintext = openInPlace(keys, block.subarray(0, whole), span, slice.size);
      isLent = true;
      yield within(plaintext, index * segmentBytes, slice);
      isLent = false;
      block.copyWithin(0, whole, held);
      held -= whole;
      index = next;
    }
  } finally {
    // a disconnected caller may have left a write behind that still reads from the block
    if (!isLent) release(block);
  }
}

/** Decrypts in place, over the stored bytes. */
function openInPlace(
  keys: BodyKeys,
  stored: Buffer,
  span: Pick<SegmentSpan, 'first' | 'end'>,
  size: number,
): Buffer {
  let filled = 0;
  for (const piece of openSpan(keys, stored, span, size)) {
    filled += piece.copy(stored, filled);
    release(piece);
  }
  return stored.subarray(0, filled);
}
