import {
  type Headers,
  type ObjectName,
  readEnvelope,
  type WrappedKeys,
} from '../../../objects/format/metadata.ts';
import { manifestKey, parseManifest } from '../../../objects/format/records.ts';
import { parseRewrapRecord, recordId, rewrapRecordKey } from '../../../objects/format/rewrap-record.ts';

/** Helper objects that belong to a stored object, one each. */
export interface HelperKind {
  readonly kind: 'manifest' | 'rewrapped-keys';
  readonly folder: string;
  /** @throws EnvelopeError for a malformed helper object */
  read(
    text: string,
    reservedPrefix: string,
    key: string,
  ): ObjectName & { readonly isOwn: boolean; readonly id: string };
  /** Whether an object with these keys needs the helper object of this id. */
  names(keys: WrappedKeys, id: string): boolean;
}

export const manifests: HelperKind = {
  kind: 'manifest',
  folder: 'manifests/',
  read(text, reservedPrefix, at) {
    const { bucket, key, list } = parseManifest(text);
    const id = list.manifest;
    return { bucket, key, id, isOwn: manifestKey(reservedPrefix, { bucket, key }, id) === at };
  },
  names: (keys, id) => keys.form === 'pointer' && keys.manifest === id,
};

export const rewraps: HelperKind = {
  kind: 'rewrapped-keys',
  folder: 'rewraps/',
  read(text, reservedPrefix, at) {
    const { bucket, key } = parseRewrapRecord(text);
    const id = at.slice(at.lastIndexOf('/') + 1);
    return { bucket, key, id, isOwn: rewrapRecordKey(reservedPrefix, { bucket, key }, id) === at };
  },
  names(keys, id) {
    if (keys.form === 'single') return recordId({ kind: 'object' }, keys.dek) === id;
    return (keys.form === 'inline' ? keys.list.manifest : keys.manifest) === id;
  },
};

/** Unreadable metadata count as naming the helper object: when in doubt, nothing is deleted. */
export function names(helpers: HelperKind, headers: Headers, id: string): boolean {
  try {
    const keys = readEnvelope(headers)?.keys;
    return keys !== undefined && helpers.names(keys, id);
  } catch {
    return true;
  }
}
