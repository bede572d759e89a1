import { EnvelopeError } from '../../../core/envelope/error.ts';
import { overheadBytes, plaintextSize, storedSize } from '../../../core/envelope/format.ts';
import type { PartList } from '../../../core/envelope/manifest.ts';
import type { Manifests } from '../multipart/manifests.ts';
import type { ObjectLayout, StoredObject } from './object-reader.ts';

/** @throws EnvelopeError `wrong-size`, and what Manifests.load throws. */
export async function loadLayout(
  manifests: Manifests,
  object: StoredObject,
  signal: AbortSignal | undefined,
): Promise<ObjectLayout> {
  const { envelope } = object;
  if (envelope === undefined) return { size: object.storedSize, list: undefined };
  if (envelope.keys.form === 'single') return singleLayout(object.storedSize);
  const list = await manifests.load(object.name, envelope, signal);
  return listLayout(object.storedSize, list);
}

function singleLayout(stored: number): ObjectLayout {
  const size = plaintextSize(stored);
  if (size === undefined) throw wrongSize();
  return { size, list: undefined };
}

function listLayout(stored: number, list: PartList): ObjectLayout {
  let size = 0;
  let expected = 0;
  for (const part of list.parts) {
    size += part.size;
    expected += storedSize(part.size);
  }
  if (expected !== stored) throw wrongSize();
  return { size, list };
}

/** Lists longer than this do not fit into a header, so there is no need to load them to show them. */
const showable = 20;

/**
 * The plaintext size as far as headers tell it without a part list: by the form
 * of the store's ETag, `…-<parts>`, for a multipart object with many parts.
 */
export function apparentSize({ envelope, storedSize: stored, etag }: StoredObject): number | undefined {
  if (envelope === undefined) return stored;
  if (envelope.keys.form === 'single') return plaintextSize(stored);
  if (envelope.keys.form === 'inline') return undefined;
  const parts = Number(/-(\d{1,5})"?$/.exec(etag)?.[1]);
  const size = stored - parts * overheadBytes;
  return parts > showable && size >= 0 ? size : undefined;
}

const wrongSize = () =>
  new EnvelopeError('wrong-size', 'the length of the stored body is not what its metadata says');
