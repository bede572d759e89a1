import type { BodyKeys } from '../../../../core/envelope/body-keys.ts';
import type { Decryption } from '../../../../core/envelope/cipher.ts';
import {
  coveringSegments,
  type SegmentSpan,
  Segments,
  segmentBytes,
} from '../../../../core/envelope/segments.ts';
import { release } from '../../../../runtime/memory.ts';
import type { ResponseBody } from '../../../../runtime/net/http1-response-body.ts';
import { HeldChunks } from './held-chunks.ts';
import { type BodySlice, plaintext, verifyTag, within } from './sealed-body.ts';

/** What is wanted of a body with `size` bytes of plaintext. */
export interface SegmentedSlice extends BodySlice {
  readonly size: number;
}

/** Where the segments lie that cover it. */
export const storedSpan = ({ size }: { readonly size: number }, { skip, take }: BodySlice): SegmentSpan =>
  coveringSegments(size, skip, take);

/**
 * Decrypts the segments of a slice, the first of which `reader` stands before. Each is held until its tag was found
 * right. Chunks are good until the next is asked for.
 * @throws EnvelopeError `authentication-failed`, `wrong-size`
 */
export async function* verifiedSegments(
  reader: ResponseBody,
  keys: BodyKeys,
  slice: SegmentedSlice,
): AsyncGenerator<Buffer, void> {
  const { size } = slice;
  const { first, end } = storedSpan(slice, slice);
  const segments = new Segments(keys);
  const held = new HeldChunks();
  let decryption: Decryption | undefined;
  try {
    for (let index = first; index < end; index++) {
      let offset = index * segmentBytes;
      const length = Math.min(segmentBytes, size - offset);
      decryption = segments.decryption(index, offset + length === size);
      for await (const chunk of plaintext(reader, decryption, length)) {
        const at = offset;
        offset += chunk.length;
        held.add(chunk, within(chunk, at, slice));
      }
      await verifyTag(reader, decryption);
      for (let chunk = held.shift(); chunk !== undefined; chunk = held.shift()) {
        yield chunk;
        release(chunk);
      }
    }
  } finally {
    decryption?.discard();
    held.discard();
  }
}
