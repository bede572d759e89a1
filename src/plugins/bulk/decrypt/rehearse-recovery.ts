import type { PartEntry } from '../../../objects/format/body-format.ts';
import type {
  RecoveryRehearsal,
  RehearsalPlan,
  RehearsedDepth,
  RehearsedObject,
} from '../../../objects/format/recovery-rehearsal.ts';
import { segmentBytes } from '../../../objects/format/segments.ts';
import type { ListUser } from '../../../objects/multipart/lists-in-use.ts';
import { singleKey } from '../../../objects/read/body/sealed-body.ts';
import { UnwrappedPartKeys } from '../../../objects/read/object-parts.ts';
import type { ByteRange, ObjectLayout, StoredObject } from '../../../objects/read/stored-object.ts';
import { S3Error } from '../../../objects/s3/error.ts';
import { storeOf } from '../../../objects/upstream/store-settings.ts';
import { createLogger } from '../../../runtime/logging/create-logger.ts';
import { Faults } from '../engine/faults.ts';
import { again, type StoredEntry } from '../engine/list-objects.ts';
import { during } from '../engine/open-object.ts';
import { earlyEnd, workOn } from '../engine/run.ts';
import { RehearsalSample } from '../engine/sample.ts';
import { endOf } from '../engine/store-failure.ts';
import type { RecoverySettings } from './settings.ts';
import { type OpenReading, openReading } from './source.ts';

/** Settings for the store and the recovery keys. */
export type RehearsalSettings = Pick<
  RecoverySettings,
  'upstream' | 'region' | 'defaultRegion' | 'reservedPrefix' | 'stateBucket'
> & { readonly recoveryKey: string };

const concurrency = 8;

/**
 * Opens a sample of a bucket as `svc proxy decrypt --recovery-key` would, and discards the plaintext. No key server
 * client is involved.
 * @throws SvcError if the run cannot start: RECOVERY_KEY, SVC_CA_BUNDLE
 */
export async function rehearseRecovery(
  settings: RehearsalSettings,
  env: Readonly<Record<string, string | undefined>>,
  plan: RehearsalPlan,
): Promise<RecoveryRehearsal> {
  const log = createLogger({ component: 'validate', level: 'error' });
  const reading = openReading({ ...settings, unencryptedReads: 'allow', requireBound: false }, env, log);
  const rehearsal = new Rehearsal(reading, plan);
  try {
    return await rehearsal.run(storeOf(settings).upstream.host);
  } finally {
    await reading.close();
  }
}

class Rehearsal {
  readonly #reading: OpenReading;
  readonly #plan: RehearsalPlan;
  readonly #opened: RehearsedObject[] = [];
  readonly #faults = new Faults();
  #unencrypted = 0;
  #gone = 0;
  #denied = 0;
  #looked = 0;

  constructor(reading: OpenReading, plan: RehearsalPlan) {
    this.#reading = reading;
    this.#plan = plan;
  }

  /** @throws only the abort reason of an interruption */
  async run(host: string): Promise<RecoveryRehearsal> {
    const { bucket, signal, sample: size } = this.#plan;
    const sample = new RehearsalSample<SampledEntry>(size);
    const look = async () => {
      await this.#choose(sample);
      await workOn({ pages: [sample.entries], concurrency, signal }, () => ({
        each: async ({ key }, each) => {
          await this.#look(key, each);
          this.#plan.onProgress(sample.seen, ++this.#looked);
        },
      }));
    };
    const endedBy = await earlyEnd(look, signal, (error) => endOf(error, 'rehearse', { host, bucket }));
    signal.throwIfAborted();
    return {
      ...{ listed: sample.seen, opened: this.#opened, unencrypted: this.#unencrypted },
      ...{ gone: this.#gone, denied: this.#denied, faults: this.#faults.listed, endedBy },
    };
  }

  async #choose(sample: RehearsalSample<SampledEntry>): Promise<void> {
    const { bucket, prefix, signal } = this.#plan;
    for await (const page of this.#reading.pages(bucket, prefix, signal)) {
      for (const entry of page) sample.add(apart(entry));
      this.#plan.onProgress(sample.seen, 0);
    }
  }

  async #look(key: string, signal: AbortSignal): Promise<void> {
    try {
      const found = await again(() => during(signal, (user) => this.#open(key, user)), signal);
      if (found === undefined) this.#unencrypted++;
      else this.#opened.push(found);
      this.#faults.succeeded();
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Absent) await this.#judgeAbsent(key, error.answer, signal);
      else if (isRefused(error, 403) || isRefused(error, 401)) this.#denied++;
      else this.#faults.add(key, error);
    }
  }

  /** An object that a new listing omits was deleted meanwhile; one that is listed must be readable. */
  async #judgeAbsent(key: string, answer: S3Error, signal: AbortSignal): Promise<void> {
    for await (const page of this.#reading.pages(this.#plan.bucket, key, signal)) {
      if (page.some((entry) => entry.key === key)) return this.#faults.add(key, answer);
      break;
    }
    this.#gone++;
  }

  /** @returns undefined for an unencrypted object. @throws Absent, or the reason why the object does not open */
  async #open(key: string, user: ListUser): Promise<RehearsedObject | undefined> {
    const { reader } = this.#reading;
    const { bucket, readWhole } = this.#plan;
    const object = await reader.stat({ bucket, key }, { signal: user.signal }).catch(absent);
    if (object.envelope === undefined) return undefined;
    const { format = 1 } = object.envelope;
    const layout = await reader.layout(object, user);
    const { depth, ranges } = whatToRead(object, layout, readWhole);
    if (depth !== 'whole') await this.#openKeys(object, layout, user.signal);
    for (const range of ranges)
      for await (const _ of reader.plaintext(object, layout, range, { signal: user.signal }));
    const { list } = layout;
    return { key, format, ...(list !== undefined && { parts: list.parts.length }), depth };
  }

  /** Unwraps the keys that `layout` has not: the DEK of a single body, and those of all parts in format 1. */
  async #openKeys(object: StoredObject, { list }: ObjectLayout, signal: AbortSignal): Promise<void> {
    const { keys } = this.#reading;
    if (list?.format === 2) return;
    if (list === undefined) {
      (await singleKey(keys, object, signal)()).fill(0);
      return;
    }
    const range = { first: 0, end: list.parts.length };
    const partKeys = new UnwrappedPartKeys(keys, object, list, range, signal);
    try {
      for (const part of list.parts) (await partKeys.of(part)()).fill(0);
    } finally {
      partKeys.close();
    }
  }
}

type SampledEntry = Pick<StoredEntry, 'key' | 'stored' | 'modified'>;

/** Copies the strings: a substring would keep the whole listing page in memory. */
const apart = ({ key, stored, modified }: StoredEntry): SampledEntry => ({
  key: Buffer.from(key).toString(),
  stored,
  modified: Buffer.from(modified).toString(),
});

/** The store answered 404 to the first request for the object. */
class Absent extends Error {
  override readonly name = 'Absent';
  readonly answer: S3Error;

  constructor(answer: S3Error) {
    super(answer.message, { cause: answer });
    this.answer = answer;
  }
}

function absent(error: unknown): never {
  throw error instanceof S3Error && error.status === 404 ? new Absent(error) : error;
}

/** An archived object also gets 403, but counts as a fault: it cannot be read before it is restored. */
const isRefused = (error: unknown, status: number): boolean =>
  error instanceof S3Error && error.status === status && error.code !== 'InvalidObjectState';

interface Reads {
  readonly depth: RehearsedDepth;
  /** Undefined stands for the whole object. */
  readonly ranges: readonly (ByteRange | undefined)[];
}

/**
 * For a large body, ranges that can be authenticated alone: segments in format 2; parts in format 1 if small enough.
 */
function whatToRead(object: StoredObject, layout: ObjectLayout, most: number): Reads {
  const { storedSize, envelope } = object;
  if (storedSize <= most) return { depth: 'whole', ranges: [undefined] };
  const { size, list } = layout;
  if (envelope?.format === 2) {
    const first = { start: 0, end: Math.min(segmentBytes, size) - 1 };
    return { depth: 'ends', ranges: [first, { start: size - 1, end: size - 1 }] };
  }
  const ends = list === undefined || list.format === 2 ? [] : endParts(list.parts, size);
  const readable = ends.length > 0 && ends.every(({ start, end }) => end - start < most);
  return readable ? { depth: 'ends', ranges: ends } : { depth: 'keys', ranges: [] };
}

/** Plaintext ranges of the first and the last part that are not empty. */
function endParts(parts: readonly PartEntry[], size: number): readonly ByteRange[] {
  const first = parts.find((part) => part.size > 0);
  const last = parts.findLast((part) => part.size > 0);
  if (first === undefined || last === undefined) return [];
  return [
    { start: 0, end: first.size - 1 },
    { start: size - last.size, end: size - 1 },
  ];
}
