import { isVaultError } from '../../keyserver/contract.ts';
import { BoundedMap } from '../../runtime/bounds/bounded-map.ts';
import { EnvelopeError } from '../format/cipher.ts';
import type { KeyPurpose, ObjectName } from '../format/metadata.ts';
import {
  type RewrapRecord,
  recordId,
  rewrapRecordKey,
  rewrapRecordOf,
  rewrapRecordText,
  slotOf,
} from '../format/rewrap-record.ts';
import type { MemoryBudget } from '../held-memory.ts';
import { readInTurn } from '../state/read-in-turn.ts';
import type { StateStore } from '../state/state-store.ts';
import type { DataKeys } from './data-keys.ts';

/** A record of 10,000 parts takes 1.3 MB. */
const recordLimit = 4 * 1024 * 1024;

/** Records of rewrapped keys, stored beside their objects. */
export interface RewrapRecords {
  /**
   * Holds memory for the record, undefined if there is none, until `use` has ended.
   * @throws EnvelopeError `malformed-metadata`, `record-forged`; S3Error 503; errors of `use`
   */
  use<T>(name: ObjectName, id: string, use: RecordUse<T>, signal?: AbortSignal): Promise<T>;
  save(record: RewrapRecord, id: string): Promise<void>;
}

type RecordUse<T> = (record: RewrapRecord | undefined) => Promise<T>;

export function createRewrapRecords(
  state: Pick<StateStore, 'read' | 'put'>,
  reservedPrefix: string,
  memory: MemoryBudget,
): RewrapRecords {
  return {
    async use(name, id, use, signal) {
      const key = rewrapRecordKey(reservedPrefix, name, id);
      const held = memory.hold('rewraps', signal);
      try {
        const record = await readInTurn(
          (admit) => state.read(name.bucket, key, recordLimit, admit),
          (stored) => rewrapRecordOf(stored, name),
          held,
        );
        return await use(record);
      } finally {
        held.release();
      }
    },
    save: (record, id) =>
      state.put(record.bucket, rewrapRecordKey(reservedPrefix, record, id), rewrapRecordText(record)),
  };
}

interface WrappedItem {
  readonly wrapped: string;
  readonly purpose: KeyPurpose;
}

/** Memory for records in use; they hold wrapped keys only. */
const rememberedBytes = 2 * 1024 * 1024;
const keyBytes = 120;

const costOf = (_: string, { keys }: RewrapRecord) => 500 + Object.keys(keys).length * keyBytes;

/**
 * Data keys that fall back to their record if the key server does not unwrap them as stored with the object, because
 * their version is below `min_decryption_version` or another transit key wrapped them. Other objects cost no extra
 * request.
 */
export function withRewraps(keys: DataKeys, records: Pick<RewrapRecords, 'use'>): DataKeys {
  const remembered = new BoundedMap<string, RewrapRecord>(rememberedBytes, { costOf });

  async function unwrapBy(record: RewrapRecord, ...[name, { binding }, items, signal]: Asked) {
    const again = items.map(({ purpose, wrapped }) => ({
      purpose,
      wrapped: record.keys[slotOf(purpose)] ?? wrapped,
    }));
    return keys.unwrap(name, { keyName: record.keyName, binding }, again, signal);
  }

  async function unwrapAgain(error: unknown, ...asked: Asked): Promise<Buffer[]> {
    const [name, , items, signal] = asked;
    const id = idOf(items);
    if (id === undefined || !mayBeRewrapped(error)) throw error;
    const unwrap = async (record: RewrapRecord | undefined) => {
      if (record === undefined) throw error;
      const unwrapped = await unwrapBy(record, ...asked);
      remembered.set(memoryKey(name, id), record);
      return unwrapped;
    };
    return records.use(name, id, unwrap, signal);
  }

  return {
    ...keys,
    async unwrap(...asked) {
      const [name, , items] = asked;
      // usually nothing is remembered, and a key's id costs a hash
      const known = remembered.size > 0 ? remembered.get(memoryKey(name, idOf(items) ?? '')) : undefined;
      if (known !== undefined) {
        // the key may have been wrapped once more since
        const unwrapped = await unwrapBy(known, ...asked).catch(() => undefined);
        if (unwrapped !== undefined) return unwrapped;
      }
      return keys.unwrap(...asked).catch((error: unknown) => unwrapAgain(error, ...asked));
    },
  };
}

type Asked = Parameters<DataKeys['unwrap']>;

const memoryKey = ({ bucket, key }: ObjectName, id: string) => JSON.stringify([bucket, key, id]);

/** All keys unwrapped in one call belong to one object. */
const idOf = ([first]: readonly WrappedItem[]): string | undefined =>
  first && recordId(first.purpose, first.wrapped);

function mayBeRewrapped(error: unknown): boolean {
  if (error instanceof EnvelopeError) return error.reason === 'foreign-key';
  return isVaultError(error) && (error.kind === 'expired-version' || error.kind === 'rejected');
}
