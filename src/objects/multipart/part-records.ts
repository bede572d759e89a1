import { BoundedMap } from '../../runtime/bounds/bounded-map.ts';
import {
  idOfPartRecord,
  type PartRecord,
  partNumberPrefix,
  partRecordId,
  partRecordKey,
  readPartRecord,
  uploadPrefix,
} from '../format/records.ts';
import { type MemoryBudget, memoryCosts } from '../held-memory.ts';
import { s3Error } from '../s3/error.ts';
import type { StateStore } from '../state/state-store.ts';
import type { UploadRecord } from './upload-record.ts';

/** S3's maximum number of parts. */
const maxParts = 10_000;
/** Records of one upload: besides one for each part, those of parts sent again that could not be replaced. */
const maxRecords = maxParts + 1_000;
/** Uploads whose sent parts are remembered. */
const maxRemembered = 1_000;

export interface PartRecordsOptions {
  readonly state: StateStore;
  readonly reservedPrefix: string;
  readonly memory: MemoryBudget;
  /** The store's ETag of a part as it is now, unquoted; undefined if there is none. */
  readonly currentEtag: (upload: UploadRecord, number: number) => Promise<string | undefined>;
}

/** The records of parts. A part that is sent again replaces its record. */
export class PartRecords {
  readonly #options: PartRecordsOptions;
  readonly #sent = new BoundedMap<string, Promise<SentParts>>(maxRemembered);

  constructor(options: PartRecordsOptions) {
    this.#options = options;
  }

  /** A new upload has no parts. */
  begin(uploadId: string): void {
    this.#sent.set(uploadId, Promise.resolve(new SentParts()));
  }

  forget(uploadId: string): void {
    this.#sent.delete(uploadId);
  }

  /**
   * Call it before a part is sent to the store. An upload that this process did not begin is listed once.
   * @throws S3Error InvalidRequest if the upload has too many records
   */
  async admit(upload: UploadRecord): Promise<void> {
    if ((await this.#sentOf(upload)).records < maxRecords) return;
    throw s3Error(
      'InvalidRequest',
      `Parts of this upload were sent again so often that ${maxRecords} records are kept. Complete or abort it.`,
    );
  }

  async add(upload: UploadRecord, part: PartRecord): Promise<void> {
    const { state, reservedPrefix } = this.#options;
    await state.put(upload.bucket, partRecordKey(reservedPrefix, upload.uploadId, part), '');
    const sent = await this.#sentOf(upload);
    const isAgain = sent.has(part.part.n);
    sent.add(part.part.n);
    if (isAgain) sent.records -= await this.#removeFormer(upload, part.part.n).catch(() => 0);
  }

  /**
   * Records of the parts with these ids (`partRecordId`), in the order of their numbers; of an id with several, two.
   * The caller holds memory for them.
   */
  async find(upload: UploadRecord, wanted: ReadonlySet<string>): Promise<PartRecord[]> {
    const { state, reservedPrefix } = this.#options;
    const prefix = uploadPrefix(reservedPrefix, upload.uploadId);
    const found: PartRecord[] = [];
    const times = new Map<string, number>();
    const { first, last } = numbersIn(wanted);
    for await (const page of state.list(upload.bucket, prefix, `${prefix}${first}`))
      for (const { key } of page) {
        const id = idOfPartRecord(key.slice(prefix.length));
        if (key.slice(prefix.length, prefix.length + last.length) > last) return found;
        const known = times.get(id) ?? 0;
        const record = wanted.has(id) && known < 2 ? readPartRecord(prefix, key) : undefined;
        if (record === undefined) continue;
        times.set(id, known + 1);
        found.push(record);
      }
    return found;
  }

  #sentOf(upload: UploadRecord): Promise<SentParts> {
    const known = this.#sent.get(upload.uploadId);
    if (known !== undefined) return known;
    const listed = this.#list(upload);
    this.#sent.set(upload.uploadId, listed);
    listed.catch(() => this.#sent.peek(upload.uploadId) === listed && this.forget(upload.uploadId));
    return listed;
  }

  async #list({ bucket, uploadId }: UploadRecord): Promise<SentParts> {
    const { state, reservedPrefix } = this.#options;
    const prefix = uploadPrefix(reservedPrefix, uploadId);
    const sent = new SentParts();
    for await (const page of state.list(bucket, prefix))
      for (const { key } of page) {
        const number = Number(key.slice(prefix.length, key.indexOf('/', prefix.length)));
        if (number >= 1 && number <= maxParts) sent.add(number);
      }
    return sent;
  }

  /**
   * Only the part that the store has now can be completed, whichever proxy it came through, so only the records of
   * others are removed. One that another proxy is about to write has a new ETag and is not listed yet.
   * @returns the number of records removed
   */
  async #removeFormer(upload: UploadRecord, number: number): Promise<number> {
    const { state, reservedPrefix, memory, currentEtag } = this.#options;
    const held = memory.hold('removals');
    await held.take(memoryCosts.removal);
    try {
      const prefix = uploadPrefix(reservedPrefix, upload.uploadId);
      const keys = await firstPage(state, upload.bucket, `${prefix}${partNumberPrefix(number)}`);
      const etag = keys.length < 2 ? undefined : await currentEtag(upload, number);
      if (etag === undefined) return 0;
      const former = keys.filter((key) => !key.startsWith(`${prefix}${partRecordId(number, etag)}`));
      if (former.length === 0 || former.length === keys.length) return 0;
      await state.delete(upload.bucket, former);
      return former.length;
    } finally {
      held.release();
    }
  }
}

async function firstPage(state: StateStore, bucket: string, prefix: string): Promise<string[]> {
  for await (const page of state.list(bucket, prefix)) return page.map(({ key }) => key);
  return [];
}

/** The range of part numbers, as they are in keys. */
function numbersIn(ids: Iterable<string>): { readonly first: string; readonly last: string } {
  let [first, last] = ['99999', '00000'];
  for (const id of ids) {
    const number = id.slice(0, 5);
    if (number < first) first = number;
    if (number > last) last = number;
  }
  return { first, last };
}

/** Which parts of an upload have been sent, and how many records that left. */
class SentParts {
  readonly #numbers = new Uint8Array(maxParts / 8 + 1);
  records = 0;

  has(number: number): boolean {
    return ((this.#numbers[number >> 3] as number) & (1 << (number & 7))) !== 0;
  }

  add(number: number): void {
    this.#numbers[number >> 3] = (this.#numbers[number >> 3] as number) | (1 << (number & 7));
    this.records++;
  }
}
