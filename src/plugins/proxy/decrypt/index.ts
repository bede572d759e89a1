import { certificateErrorCode, exitStatus, SvcError } from '../../../core/errors.ts';
import { S3Error, s3Error } from '../../../core/s3/error.ts';
import type { Sources } from '../../../core/settings/resolve.ts';
import { createLogger } from '../../../runtime/logging/create-logger.ts';
import { storeOf } from '../../../runtime/object-store/settings.ts';
import { isVaultError } from '../../../runtime/vault/contract.ts';
import { type Fault, Faults } from './faults.ts';
import type { Place } from './journal.ts';
import type { StoredEntry } from './list-objects.ts';
import { resolveDecryptSettings } from './settings.ts';
import { openSource, type Source } from './source.ts';
import { openJournal, TargetFolder } from './target-folder.ts';

export interface DecryptCall {
  readonly sources: Sources & { readonly env: Readonly<Record<string, string | undefined>> };
  /** `s3://bucket` or `s3://bucket/prefix`. */
  readonly from: string;
  /** A folder. */
  readonly to: string;
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  /** Called now and then with what was done so far. */
  readonly onProgress: (counts: Counts) => void;
}

/** Objects, but for `bytes`. */
export interface Counts {
  /** That the store has listed, helper objects left out. */
  listed: number;
  /** Decrypted, verified and written; in a dry run those that would be. */
  done: number;
  /** Of these, objects that were not encrypted, and were written as they are stored. */
  unencrypted: number;
  /** Complete since an earlier run. */
  skipped: number;
  /** Plaintext bytes of `done`. */
  bytes: number;
}

/** An object whose file has another name than its key says, because that one was taken. */
export interface Renamed {
  readonly key: string;
  readonly path: string;
}

export interface DecryptReport extends Counts {
  readonly dryRun: boolean;
  /** The first of them; `renamedCount` counts all. */
  readonly renamed: readonly Renamed[];
  readonly renamedCount: number;
  readonly faults: readonly Fault[];
  readonly faultCount: number;
  readonly faultsByReason: Readonly<Record<string, number>>;
  /** What ended the run before it had seen every object. */
  readonly endedBy: Error | undefined;
}

const mostRenamed = 1_000;

/**
 * Reads objects past the proxy, verifies and decrypts them, and writes them into a folder, in which it can go on after any end.
 * @throws SvcError where it cannot begin: CONFIG_INVALID, DECRYPT_USAGE, DECRYPT_FOLDER
 */
export async function decryptObjects(call: DecryptCall): Promise<DecryptReport> {
  const { bucket, prefix } = placeOf(call.from);
  const settings = resolveDecryptSettings(call.sources);
  const { upstream } = storeOf(settings);
  const place = { store: upstream.href, bucket, prefix };
  const log = await createLogger({ component: 'proxy-decrypt', level: 'error' });
  const source = openSource(bucket, settings, call.sources.env, log);
  const run = { call, source, place, host: upstream.host, concurrency: settings.concurrency };
  try {
    return await (call.dryRun ? dryRun(run) : decryptInto(run));
  } finally {
    await source.close();
  }
}

/** @throws SvcError DECRYPT_USAGE */
export function placeOf(from: string): { bucket: string; prefix: string } {
  const place = readPlace(from);
  if (place !== undefined) return place;
  throw new SvcError('DECRYPT_USAGE', 'The source is not of the form s3://bucket or s3://bucket/prefix', {
    nextStep: 'Name the bucket, and the beginning of the keys that you want.',
    exitStatus: exitStatus.config,
  });
}

/** @returns undefined for what is not `s3://bucket` or `s3://bucket/prefix` */
export function readPlace(text: string): { bucket: string; prefix: string } | undefined {
  const [, bucket, prefix = ''] =
    /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9])(?:\/(.*))?$/s.exec(text) ?? [];
  return bucket === undefined ? undefined : { bucket, prefix };
}

interface Run {
  readonly call: DecryptCall;
  readonly source: Source;
  readonly place: Place;
  readonly host: string;
  readonly concurrency: number;
}

async function decryptInto(run: Run): Promise<DecryptReport> {
  const { call, source, place } = run;
  const folder = TargetFolder.open(call.to, place);
  const renamed: Renamed[] = [];
  let renamedCount = 0;
  let whole = false;
  try {
    const report = await overAll(run, new Faults(call.to), async (page, counts, each) => {
      const known = await folder.journal.of(page.map(({ key }) => key));
      await each(async (object, signal) => {
        const earlier = known.get(object.key);
        if (earlier !== undefined && isSame(earlier, object) && folder.holds(earlier)) {
          folder.journal.add(earlier);
          counts.skipped++;
          return;
        }
        const { written, encrypted, etag } = await source
          .read(
            object.key,
            async (opened) => ({ ...opened, written: await folder.write(opened.chunks) }),
            signal,
          )
          .catch((error: unknown) => {
            // its earlier state stays ours, to be replaced by a later run
            if (earlier !== undefined) folder.journal.add(earlier);
            throw error;
          });
        const path = folder.place(object.key, written, earlier?.path);
        folder.journal.add({ ...object, etag, bytes: written.bytes, path });
        counts.done++;
        counts.bytes += written.bytes;
        if (!encrypted) counts.unencrypted++;
        if (!folder.isPlain(object.key, path) && ++renamedCount <= mostRenamed)
          renamed.push({ key: object.key, path });
      });
    });
    whole = report.endedBy === undefined && !call.signal.aborted;
    return { ...report, renamed, renamedCount };
  } finally {
    folder.close(whole);
  }
}

/** Metadata and lengths are looked at; no key is unwrapped, and no body is read. */
async function dryRun(run: Run): Promise<DecryptReport> {
  const { call, source, place } = run;
  const before = openJournal(call.to, place);
  const report = await overAll(run, new Faults(call.to), async (page, counts, each) => {
    const known = await before?.journal.of(page.map(({ key }) => key));
    await each(async (object, signal) => {
      const earlier = known?.get(object.key);
      if (earlier !== undefined && isSame(earlier, object) && before?.holds(earlier)) {
        counts.skipped++;
        return;
      }
      const { encrypted, size = object.stored } = await source.look(object.key, signal);
      counts.done++;
      counts.bytes += size;
      if (!encrypted) counts.unencrypted++;
    });
  });
  before?.journal.close(false);
  return { ...report, renamed: [], renamedCount: 0 };
}

const isSame = (one: Pick<StoredEntry, 'etag' | 'stored' | 'modified'>, other: StoredEntry) =>
  one.etag === other.etag && one.stored === other.stored && one.modified === other.modified;

type Work = (object: StoredEntry, signal: AbortSignal) => Promise<void>;
type OnPage = (
  page: readonly StoredEntry[],
  counts: Counts,
  each: (work: Work) => Promise<void>,
) => Promise<void>;
type RunResult = Omit<DecryptReport, 'renamed' | 'renamedCount'>;

/** Page after page, so that what is kept of earlier runs can be read beside it. */
async function overAll(
  { call, source, place, host, concurrency }: Run,
  faults: Faults,
  onPage: OnPage,
): Promise<RunResult> {
  const counts: Counts = { listed: 0, done: 0, unencrypted: 0, skipped: 0, bytes: 0 };
  let endedBy: Error | undefined;
  try {
    for await (const page of source.pages(place.prefix, call.signal)) {
      counts.listed += page.length;
      await onPage(page, counts, (work) =>
        eachOf(page, concurrency, call.signal, async (object, signal) => {
          try {
            refuseTooLong(object.key);
            await work(object, signal);
            faults.succeeded();
          } catch (error) {
            signal.throwIfAborted();
            faults.add(object.key, error);
          }
          call.onProgress(counts);
        }),
      );
    }
  } catch (error) {
    // An interruption is no fault, and what came out before it is told
    if (!call.signal.aborted) endedBy = endOf(error, host, place.bucket);
  }
  const { listed, count, byReason } = faults;
  return {
    ...counts,
    dryRun: call.dryRun,
    faults: listed,
    faultCount: count,
    faultsByReason: byReason,
    endedBy,
  };
}

/** S3 has none that is longer, in bytes. */
const longestKey = 1024;

function refuseTooLong(key: string): void {
  if (Buffer.byteLength(key) > longestKey) throw s3Error('KeyTooLongError');
}

/** As `concurrently`, but nothing goes on once this has ended: what is under way is aborted first. */
export async function eachOf<T>(
  items: readonly T[],
  limit: number,
  outer: AbortSignal,
  work: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([outer, stop.signal]);
  const left = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of { [Symbol.iterator]: () => left }) {
      signal.throwIfAborted();
      await work(item, signal);
    }
  };
  const fail = (error: unknown) => {
    stop.abort(error);
    throw error;
  };
  const workers = Array.from({ length: Math.min(limit, items.length) }, () => worker().catch(fail));
  await Promise.allSettled(workers);
  signal.throwIfAborted();
}

/** Why the run did not get to the end. */
function endOf(error: unknown, host: string, bucket: string): Error {
  if (error instanceof SvcError || isVaultError(error)) return error;
  const certificate = certificateErrorCode(error);
  const name =
    certificate ?? (error instanceof S3Error ? error.code : error instanceof Error ? error.name : 'unknown');
  return new SvcError(
    'DECRYPT_STORE_FAILED',
    `The object store ${host} refused bucket ${bucket} or could not be reached (${name})`,
    {
      nextStep:
        'Check --upstream, the bucket, and that the credentials may list it and read its objects; then run it again, and it goes on.',
      exitStatus: certificate === undefined ? exitStatus.unavailable : exitStatus.config,
      cause: error,
    },
  );
}
