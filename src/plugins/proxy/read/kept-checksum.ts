import { openWholeChecksum } from '../../../core/envelope/whole-checksum.ts';
import type { WholeChecksum } from '../../../core/s3/object-checksum.ts';
import type { DataKeys } from '../data-keys.ts';
import { singleKey } from './body/sealed-body.ts';
import type { ObjectLayout, StoredObject } from './stored-object.ts';

/** The checksum that is kept with an object: opened with its part list, or under its DEK. @throws EnvelopeError `record-forged` */
export async function keptChecksum(
  keys: DataKeys,
  object: StoredObject,
  layout: ObjectLayout,
  signal: AbortSignal,
): Promise<WholeChecksum | undefined> {
  if (layout.list !== undefined) return layout.list.checksum;
  if (object.envelope?.checksum === undefined) return undefined;
  const dek = await singleKey(keys, object, signal)();
  try {
    return openKept(object, layout, dek);
  } finally {
    dek.fill(0);
  }
}

/** Of an object in one piece. */
export function openKept(
  { envelope }: StoredObject,
  { size }: ObjectLayout,
  dek: Buffer,
): WholeChecksum | undefined {
  const sealed = envelope?.checksum?.sealed;
  return sealed === undefined ? undefined : openWholeChecksum(dek, String(size), sealed, 1);
}
