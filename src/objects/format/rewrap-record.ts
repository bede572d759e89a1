import { createHash } from 'node:crypto';
import { type JsonText, parseBounded } from '../../runtime/bounds/bounded-json.ts';
import { EnvelopeError } from './cipher.ts';
import { isWrappedKey } from './format-1.ts';
import type { KeyPurpose, ObjectName } from './metadata.ts';

/**
 * The keys of a stored object, wrapped by another version of the transit key or by another transit key. They are kept
 * beside the object, because old versions, and objects that cannot be copied, cannot get new metadata. The binding of
 * the keys does not change.
 */
export interface RewrapRecord extends ObjectName {
  /** The transit key that wraps them. */
  readonly keyName: string;
  /** Wrapped keys by the slot of their purpose, see `slotOf`. */
  readonly keys: Readonly<Record<string, string>>;
}

/** `object`, `seal`, or the number of a part. */
export const slotOf = (purpose: KeyPurpose): string =>
  purpose.kind === 'part' ? String(purpose.number) : purpose.kind;

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** All keys of an upload share one record; an object in one piece has one for each wrapping of its key. */
export const recordId = (purpose: KeyPurpose, wrapped: string): string =>
  purpose.kind === 'object' ? sha256(wrapped) : purpose.upload;

/** `<prefix>rewraps/<hash of bucket and key>/<id>` */
export const rewrapRecordKey = (reserved: string, { bucket, key }: ObjectName, id: string): string =>
  `${reserved}rewraps/${sha256(JSON.stringify([bucket, key]))}/${id}`;

export const rewrapRecordText = ({ bucket, key, keyName, keys }: RewrapRecord): string =>
  JSON.stringify({ v: 1, bucket, key, keyName, keys });

/** One for each part, plus the seal key. */
const mostKeys = 10_001;

/** @throws EnvelopeError `malformed-metadata` */
export function parseRewrapRecord(text: JsonText): RewrapRecord {
  const { v, bucket, key, keyName, keys } = parsed(text);
  const whole =
    v === 1 &&
    [bucket, key, keyName].every((name) => typeof name === 'string') &&
    typeof keys === 'object' &&
    keys !== null &&
    Object.keys(keys).length <= mostKeys &&
    Object.values(keys).every(isWrappedKey);
  if (!whole) throw malformed();
  return { bucket, key, keyName, keys: { __proto__: null, ...keys } } as unknown as RewrapRecord;
}

/** @throws EnvelopeError `record-forged` for another object's record */
export function rewrapRecordOf(text: JsonText, name: ObjectName): RewrapRecord {
  const record = parseRewrapRecord(text);
  if (record.bucket === name.bucket && record.key === name.key) return record;
  throw new EnvelopeError('record-forged', 'the record of rewrapped keys is of another object');
}

function parsed(text: JsonText): Readonly<Record<string, unknown>> {
  try {
    const value = parseBounded(text, { maxParts: 2 * mostKeys + 100, maxDepth: 2 });
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch (cause) {
    throw malformed(cause);
  }
  throw malformed();
}

const malformed = (cause?: unknown) =>
  new EnvelopeError(
    'malformed-metadata',
    'a record of rewrapped keys does not have the form that svc writes',
    {
      cause,
    },
  );
