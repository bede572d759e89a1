import { openMd5, openWholeChecksum } from '../../../core/envelope/sealed-checksums.ts';
import { md5Metadata } from '../../../core/s3/headers.ts';
import { wholeChecksumHeaders } from '../../../core/s3/object-checksum.ts';
import type { DataKeys } from '../data-keys.ts';
import { singleKey } from './body/sealed-body.ts';
import type { KeptDigests, ObjectLayout, StoredObject } from './stored-object.ts';

/** Whether anything has to be opened for an answer: an MD5 is metadata, which every answer has. */
export const asksForDigests = ({ envelope }: StoredObject, checksum: boolean): boolean =>
  envelope !== undefined &&
  (envelope.md5 !== undefined ||
    (checksum && (envelope.checksum !== undefined || envelope.keys.form !== 'single')));

/** Opened with the part list, or under the DEK. @throws EnvelopeError `record-forged` */
export async function keptDigests(
  keys: DataKeys,
  object: StoredObject,
  layout: ObjectLayout,
  signal: AbortSignal,
): Promise<KeptDigests> {
  if (layout.list !== undefined) return layout.list;
  if (!asksForDigests(object, true)) return {};
  const dek = await singleKey(keys, object, signal)();
  try {
    return openDigests(object, layout, dek);
  } finally {
    dek.fill(0);
  }
}

/** Of an object in one piece. */
export function openDigests({ envelope }: StoredObject, { size }: ObjectLayout, dek: Buffer): KeptDigests {
  const sealed = envelope?.checksum?.sealed;
  return {
    checksum: sealed === undefined ? undefined : openWholeChecksum(dek, String(size), sealed, 1),
    md5: envelope?.md5 === undefined ? undefined : openMd5(dek, envelope.md5),
  };
}

/** As headers of an answer. */
export const digestHeaders = (
  { checksum, md5 }: KeptDigests,
  wanted: { readonly checksum: boolean },
): Record<string, string> => ({
  ...(checksum !== undefined && wanted.checksum && wholeChecksumHeaders(checksum)),
  ...(md5 !== undefined && { [md5Metadata]: md5 }),
});
