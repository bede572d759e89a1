import { BoundedMap } from '../../core/bounded-map.ts';
import { EnvelopeError } from '../../core/envelope/cipher.ts';
import type { KeyPurpose, ObjectName } from '../../core/envelope/metadata.ts';
import {
  type RewrapRecord,
  recordId,
  rewrapRecordKey,
  rewrapRecordOf,
  rewrapRecordText,
  slotOf,
} from '../../core/envelope/rewrap-record.ts';
import { isVaultError } from '../../runtime/vault/contract.ts';
import type { DataKeys } from './data-keys.ts';
import type { StateStore } from './state/state-store.ts';

/** A record of 10,000 parts takes 1.3 MB. */
const recordLimit = 8 * 1024 * 1024;

/** Records of keys that were wrapped again, beside the objects that they are of. */
export interface RewrapRecords {
  /** @returns undefined where there is none. @throws EnvelopeError `malformed-metadata`, `record-forged`; S3Error 503 */
  find(name: ObjectName, id: string): Promise<RewrapRecord | undefined>;
  save(record: RewrapRecord, id: string): Promise<void>;
}

export function createRewrapRecords(
  state: Pick<StateStore, 'get' | 'put'>,
  reservedPrefix: string,
): RewrapRecords {
  return {
    async find(name, id) {
      const text = await state.get(name.bucket, rewrapRecordKey(reservedPrefix, name, id), recordLimit);
      return text === undefined ? undefined : rewrapRecordOf(text, name);
    },
    save: (record, id) =>
      state.put(record.bucket, rewrapRecordKey(reservedPrefix, record, id), rewrapRecordText(record)),
  };
}

interface WrappedItem {
  readonly wrapped: string;
  readonly purpose: KeyPurpose;
}

/** Memory for records that were needed: they hold wrapped keys only. */
const rememberedBytes = 2 * 1024 * 1024;
const keyBytes = 120;

const costOf = (_: string, { keys }: RewrapRecord) => 500 + Object.keys(keys).length * keyBytes;

/**
 * Data keys that are looked for in their record where the key server does not unwrap them as they stand with the object: because
 * their version lies below `min_decryption_version`, or because another transit key has wrapped them. Objects that unwrap cost
 * no request more.
 */
export function withRewraps(keys: DataKeys, records: Pick<RewrapRecords, 'find'>): DataKeys {
  const remembered = new BoundedMap<string, RewrapRecord>(rememberedBytes, { costOf });

  async function unwrapBy(record: RewrapRecord, ...[name, { binding }, items, signal]: Asked) {
    const again = items.map(({ purpose, wrapped }) => ({
      purpose,
      wrapped: record.keys[slotOf(purpose)] ?? wrapped,
    }));
    return keys.unwrap(name, { keyName: record.keyName, binding }, again, signal);
  }

  async function unwrapAgain(error: unknown, ...asked: Asked): Promise<Buffer[]> {
    const [name, , items] = asked;
    const id = idOf(items);
    if (id === undefined || !mayBeRewrapped(error)) throw error;
    const record = await records.find(name, id);
    if (record === undefined) throw error;
    const unwrapped = await unwrapBy(record, ...asked);
    remembered.set(memoryKey(name, id), record);
    return unwrapped;
  }

  return {
    ...keys,
    async unwrap(...asked) {
      const [name, , items] = asked;
      // Mostly none is remembered, and the id of a key costs a hash
      const known = remembered.size > 0 ? remembered.get(memoryKey(name, idOf(items) ?? '')) : undefined;
      if (known !== undefined) {
        // It may have been wrapped once more since
        const unwrapped = await unwrapBy(known, ...asked).catch(() => undefined);
        if (unwrapped !== undefined) return unwrapped;
      }
      return keys.unwrap(...asked).catch((error: unknown) => unwrapAgain(error, ...asked));
    },
  };
}

type Asked = Parameters<DataKeys['unwrap']>;

const memoryKey = ({ bucket, key }: ObjectName, id: string) => JSON.stringify([bucket, key, id]);

/** All that is unwrapped in one call belongs to one object. */
const idOf = ([first]: readonly WrappedItem[]): string | undefined =>
  first && recordId(first.purpose, first.wrapped);

function mayBeRewrapped(error: unknown): boolean {
  if (error instanceof EnvelopeError) return error.reason === 'foreign-key';
  return isVaultError(error) && (error.kind === 'expired-version' || error.kind === 'rejected');
}
