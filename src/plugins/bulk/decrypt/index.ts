import type { ListUser } from '../../../objects/multipart/lists-in-use.ts';
import { apparentSize } from '../../../objects/read/stored-object.ts';
import { refuseLongKey } from '../../../objects/s3/request.ts';
import { storeOf } from '../../../objects/upstream/store-settings.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import { createLogger } from '../../../runtime/logging/create-logger.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { type FaultReport, Faults } from '../engine/faults.ts';
import { again, type StoredEntry } from '../engine/list-objects.ts';
import { during, open } from '../engine/open-object.ts';
import { type BulkCall, earlyEnd, placeOf, readPlace, workOnObjects } from '../engine/run.ts';
import { endOf } from '../engine/store-failure.ts';
import { intoBucket } from './into-bucket.ts';
import { intoFolder, lookIntoFolder } from './into-folder.ts';
import type { Place } from './journal.ts';
import { type DecryptSettings, type RecoverySettings, resolveDecryptSettings } from './settings.ts';
import { type OpenReading, openReading } from './source.ts';
import { judgeTarget, type TakenIn, type Target, type TargetPage, TargetRefused } from './target.ts';

export interface DecryptCall extends BulkCall<Counts> {
  /** `s3://bucket` or `s3://bucket/prefix`. */
  readonly from: string;
  /** A folder, or `s3://bucket` or `s3://bucket/prefix`. */
  readonly to: string;
  readonly dryRun: boolean;
}

/** Numbers of objects, except `bytes`. */
export interface Counts {
  /** Listed by the store, without helper objects. */
  listed: number;
  /** Decrypted, verified and written; in a dry run those that would be. */
  done: number;
  /** Of `done`: objects that were not encrypted, written as stored. */
  unencrypted: number;
  /** Completed by an earlier run. */
  skipped: number;
  /** Plaintext bytes of `done`. */
  bytes: number;
}

/** An object whose file does not have the key's usual name because that name was taken. */
export interface Renamed {
  readonly key: string;
  readonly path: string;
}

export interface DecryptReport extends Counts, FaultReport {
  readonly dryRun: boolean;
  /** The first renamed objects; `renamedCount` counts all. */
  readonly renamed: readonly Renamed[];
  readonly renamedCount: number;
  /** The error that ended the run early. */
  readonly endedBy: Error | undefined;
}

const maxRenamed = 1_000;

/**
 * Reads objects directly from the store, verifies and decrypts them, and writes them into a folder or another bucket. A
 * later run continues where this one ended, however it ended.
 * @throws SvcError if the run cannot start: CONFIG_INVALID, DECRYPT_USAGE, DECRYPT_FOLDER
 */
export async function decryptObjects(call: DecryptCall): Promise<DecryptReport> {
  const { bucket, prefix } = placeOf(call.from, 'decrypt');
  const settings = resolveDecryptSettings(call.sources);
  const { upstream } = storeOf(settings);
  const place = { store: upstream.href, bucket, prefix };
  const log = createLogger({ component: 'proxy-decrypt', level: 'error' });
  const reading = openReading(settings, call.sources.env, log);
  try {
    const target = openTarget(call, place, settings, log);
    let whole = false;
    try {
      const run = { call, reading, target, place, concurrency: settings.concurrency };
      const report = await decryptAll(run, upstream.host);
      whole = report.endedBy === undefined && !call.signal.aborted;
      return report;
    } finally {
      target.close(whole);
    }
  } finally {
    await reading.close();
  }
}

function openTarget(
  { to, dryRun, sources }: DecryptCall,
  place: Place,
  settings: RecoverySettings | DecryptSettings,
  log: Logger,
): Target {
  if (to.startsWith('s3://')) {
    const target = targetOf(to, settings.reservedPrefix);
    return intoBucket(target, place, settings, sources.env, log);
  }
  return dryRun ? lookIntoFolder(to, place) : intoFolder(to, place);
}

/** A target prefix is treated as a folder. @throws SvcError DECRYPT_USAGE */
function targetOf(to: string, reservedPrefix: string): { bucket: string; prefix: string } {
  const place = readPlace(to);
  const prefix = place?.prefix.replace(/(?<=[^/])$/, '/');
  if (place !== undefined && prefix !== undefined && !prefix.startsWith(reservedPrefix))
    return { bucket: place.bucket, prefix };
  throw new SvcError('DECRYPT_USAGE', `${to} cannot be used for plaintext`, {
    nextStep: `Name a folder, s3://bucket or s3://bucket/prefix with --to; the prefix must not begin with ${reservedPrefix}.`,
    exitStatus: exitStatus.config,
  });
}

interface Run {
  readonly call: DecryptCall;
  readonly reading: OpenReading;
  readonly target: Target;
  readonly place: Place;
  readonly concurrency: number;
}

async function decryptAll(run: Run, host: string): Promise<DecryptReport> {
  const { call, reading, target, place, concurrency } = run;
  const { bucket, prefix } = place;
  const { signal } = call;
  const faults = new Faults(judgeTarget(call.to));
  const tally = new RunTally();
  const { counts } = tally;
  const work = {
    ...{ pages: reading.pages(bucket, prefix, signal), concurrency, signal, faults, counts },
    onSeen: () => call.onProgress(counts),
  };
  const endedBy = await earlyEnd(
    () =>
      workOnObjects(work, async (page) => {
        const there = await target.page(page, signal);
        return (object, each) => decryptOne(run, there, object, tally, each);
      }),
    signal,
    (error) =>
      error instanceof TargetRefused
        ? endOf(error, 'target', error.place)
        : endOf(error, 'decrypt', { host, bucket }),
  );
  return { ...tally.report, ...faults.report, dryRun: call.dryRun, endedBy };
}

/** A dry run checks metadata and lengths only; it unwraps no key and reads no body. */
async function decryptOne(
  { call, reading, place: { bucket } }: Run,
  there: TargetPage,
  object: StoredEntry,
  tally: RunTally,
  signal: AbortSignal,
): Promise<void> {
  refuseLongKey(object.key);
  if (await there.has(object, signal)) tally.counts.skipped++;
  else if (call.dryRun) {
    const found = await again(() => reading.reader.stat({ bucket, key: object.key }, { signal }), signal);
    tally.came(object, found.envelope !== undefined, { bytes: apparentSize(found) ?? object.stored });
  } else {
    const take = async (user: ListUser) => {
      const opened = await open(reading, bucket, object.key, user);
      return { encrypted: opened.encrypted, taken: await there.take(object, opened, signal) };
    };
    try {
      const { encrypted, taken } = await again(() => during(signal, take), signal);
      tally.came(object, encrypted, taken);
    } catch (error) {
      there.keepEarlier(object);
      throw error;
    }
  }
}

class RunTally {
  readonly counts: Counts = { listed: 0, done: 0, unencrypted: 0, skipped: 0, bytes: 0 };
  readonly #renamed: Renamed[] = [];
  #renamedCount = 0;

  came({ key }: StoredEntry, encrypted: boolean, { bytes, renamed: path }: TakenIn): void {
    this.counts.done++;
    this.counts.bytes += bytes;
    if (!encrypted) this.counts.unencrypted++;
    if (path !== undefined && ++this.#renamedCount <= maxRenamed) this.#renamed.push({ key, path });
  }

  get report() {
    return { ...this.counts, renamed: this.#renamed, renamedCount: this.#renamedCount };
  }
}
