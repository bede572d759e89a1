import { BoundedMap } from '../../runtime/bounds/bounded-map.ts';
import type { ObjectName } from '../format/metadata.ts';
import { createRecordKey, doneRecordKey, uploadPrefix } from '../format/records.ts';
import { type MemoryBudget, memoryCosts } from '../held-memory.ts';
import { s3Error } from '../s3/error.ts';
import type { DelayedRemovals, StateStore } from '../state/state-store.ts';
import { PartRecords, type PartRecordsOptions } from './part-records.ts';
import type { UploadKeys } from './upload-keys.ts';
import {
  type DoneRecord,
  doneRecordText,
  readDoneRecord,
  readUploadRecord,
  type StoredUploadRecord,
  type UploadRecord,
  uploadRecordText,
  verifyUploadRecord,
} from './upload-record.ts';

const recordLimit = 64 * 1024;
/** Bytes of records; those of uploads with many headers to repeat take 16 KiB. */
const rememberedBytes = 2 * 1024 * 1024;
const deleteBatch = 1000;
/** Period in which a Complete may be repeated. */
const doneLifeMs = 15 * 60 * 1000;

interface UploadsOptions extends PartRecordsOptions {
  readonly keys: Pick<UploadKeys, 'sealKey'>;
  readonly removals: DelayedRemovals;
}

/** Approximate bytes of an entry. */
const costOf = (_: string, record: UploadRecord): number => 500 + JSON.stringify(record).length;

/** Records of uploads in the state store, shared by all proxies of a store. */
export class Uploads {
  readonly #state: StateStore;
  readonly #prefix: string;
  readonly #keys: Pick<UploadKeys, 'sealKey'>;
  readonly #removals: DelayedRemovals;
  readonly #memory: MemoryBudget;
  readonly #known = new BoundedMap<string, UploadRecord>(rememberedBytes, { costOf });
  readonly parts: PartRecords;

  constructor({ state, reservedPrefix, keys, removals, memory, currentEtag }: UploadsOptions) {
    this.#state = state;
    this.#prefix = reservedPrefix;
    this.#keys = keys;
    this.#removals = removals;
    this.#memory = memory;
    this.parts = new PartRecords({ state, reservedPrefix, memory, currentEtag });
  }

  async begin(record: UploadRecord, sealKey: Uint8Array): Promise<void> {
    await this.#state.put(
      record.bucket,
      createRecordKey(this.#prefix, record.uploadId),
      uploadRecordText(record, sealKey),
    );
    this.#known.set(record.uploadId, record);
    this.parts.begin(record.uploadId);
  }

  /**
   * The record of an upload, verified once per process.
   * @throws S3Error NoSuchUpload if no proxy created the upload, or for another object; EnvelopeError `record-forged`,
   *   `malformed-metadata`; VaultError
   */
  async find(name: ObjectName, uploadId: string, signal?: AbortSignal): Promise<UploadRecord> {
    const known = this.#known.get(uploadId);
    const record = known ?? (await this.#load(name, uploadId));
    if (record?.bucket !== name.bucket || record.key !== name.key || record.uploadId !== uploadId)
      throw s3Error('NoSuchUpload', undefined, { details: { UploadId: uploadId } });
    return known ?? (await this.#verified(record as StoredUploadRecord, signal));
  }

  /** Whether the upload has its record still, which Complete and Abort remove; if not, what is known of it is forgotten. */
  async isOpen({ bucket, uploadId }: UploadRecord): Promise<boolean> {
    const text = await this.#state.get(bucket, createRecordKey(this.#prefix, uploadId), recordLimit);
    if (text === undefined) this.#forget(uploadId);
    return text !== undefined;
  }

  async done(name: ObjectName, uploadId: string): Promise<DoneRecord | undefined> {
    const text = await this.#state.get(name.bucket, doneRecordKey(this.#prefix, uploadId), recordLimit);
    return text === undefined ? undefined : readDoneRecord(text);
  }

  /** Deletes the records, except the done record, which stays as long as a Complete may be repeated. */
  async finish(record: UploadRecord, done: DoneRecord): Promise<void> {
    const doneKey = doneRecordKey(this.#prefix, record.uploadId);
    await this.#state.put(record.bucket, doneKey, doneRecordText({ ...done, bucket: record.bucket }));
    this.#removals.add(record.bucket, doneKey, doneLifeMs);
    await this.#remove(record, record.uploadId, doneKey);
  }

  async abandon(name: ObjectName, uploadId: string): Promise<void> {
    await this.#remove(name, uploadId);
  }

  async #load(name: ObjectName, uploadId: string): Promise<StoredUploadRecord | undefined> {
    const text = await this.#state.get(name.bucket, createRecordKey(this.#prefix, uploadId), recordLimit);
    return text === undefined ? undefined : readUploadRecord(text);
  }

  async #verified(stored: StoredUploadRecord, signal: AbortSignal | undefined): Promise<UploadRecord> {
    const sealKey = await this.#keys.sealKey(stored, signal);
    try {
      const record = verifyUploadRecord(stored, sealKey);
      this.#known.set(record.uploadId, record);
      return record;
    } finally {
      sealKey.fill(0);
    }
  }

  #forget(uploadId: string): void {
    this.#known.delete(uploadId);
    this.parts.forget(uploadId);
  }

  async #remove({ bucket }: ObjectName, uploadId: string, keep?: string): Promise<void> {
    this.#forget(uploadId);
    const held = this.#memory.hold('removals');
    await held.take(memoryCosts.removal);
    try {
      const batch: string[] = [];
      for await (const page of this.#state.list(bucket, uploadPrefix(this.#prefix, uploadId))) {
        batch.push(...page.map((object) => object.key).filter((key) => key !== keep));
        while (batch.length >= deleteBatch) await this.#state.delete(bucket, batch.splice(0, deleteBatch));
      }
      if (batch.length > 0) await this.#state.delete(bucket, batch);
    } finally {
      held.release();
    }
  }
}
