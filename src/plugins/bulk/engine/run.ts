import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import type { Sources } from '../../../runtime/settings/resolve.ts';
import type { Faults } from './faults.ts';
import { nameOf, type StoredEntry } from './list-objects.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** How a command starts a run over many objects. */
export interface BulkCall<Counts> {
  readonly sources: Sources & { readonly env: Env };
  readonly signal: AbortSignal;
  /** Called now and then with the current counts. */
  readonly onProgress: (counts: Counts) => void;
}

/** The objects of a run: all keys in `bucket` that begin with `prefix`. */
export interface RunPlace {
  readonly bucket: string;
  readonly prefix: string;
}

/** Codes of wrong places, by the command. */
const usages = {
  decrypt: ['DECRYPT_USAGE'],
  migrate: ['MIGRATE_USAGE'],
  rewrap: ['REWRAP_USAGE'],
} as const;

/**
 * @throws SvcError DECRYPT_USAGE, MIGRATE_USAGE or REWRAP_USAGE unless `text` is `s3://bucket` or `s3://bucket/prefix`
 */
export function placeOf(text: string, of: keyof typeof usages): RunPlace {
  const place = readPlace(text);
  if (place !== undefined) return place;
  const [code] = usages[of];
  throw new SvcError(code, `${text} is not of the form s3://bucket or s3://bucket/prefix`, {
    nextStep: 'Name the bucket and, to select objects, the prefix of their keys.',
    exitStatus: exitStatus.config,
  });
}

/** @returns undefined unless `text` is `s3://bucket` or `s3://bucket/prefix` */
export function readPlace(text: string): RunPlace | undefined {
  const [, bucket, prefix = ''] =
    /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9])(?:\/(.*))?$/s.exec(text) ?? [];
  return bucket === undefined ? undefined : { bucket, prefix };
}

/** Work on everything that is listed. */
export interface Work<E> {
  readonly pages: AsyncIterable<readonly E[]> | Iterable<readonly E[]>;
  /** Entries at a time. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

type Each<E> = (entry: E, signal: AbortSignal) => Promise<void>;

interface PageWork<E> {
  readonly each: Each<E>;
  /** Called when all of the page is done: the place to count it, and to keep from where another run resumes. */
  done?(): void;
}

/**
 * Page by page, so that what earlier runs left can be read in step with the listing.
 * @param begin called with each page
 * @throws what ended the listing, or work on an entry; nothing is still running then
 */
export async function workOn<E>(
  { pages, concurrency, signal }: Work<E>,
  begin: (page: readonly E[]) => PageWork<E> | Promise<PageWork<E>>,
): Promise<void> {
  for await (const page of pages) {
    const { each, done } = await begin(page);
    await eachOf(page, concurrency, signal, each);
    done?.();
  }
}

/** Work on stored objects, which goes on where it fails for a single one. */
export interface ObjectWork<E extends StoredEntry> extends Work<E> {
  readonly faults: Faults;
  /** Of which the listed ones are counted here. */
  readonly counts: { listed: number };
  /** Called after each object, whether it could be processed or not. */
  onSeen(): void;
}

/**
 * @param begin called with each page
 * @throws what ends the run; see Faults
 */
export async function workOnObjects<E extends StoredEntry>(
  work: ObjectWork<E>,
  begin: (page: readonly E[]) => Each<E> | Promise<Each<E>>,
): Promise<void> {
  const { faults, counts } = work;
  await workOn(work, async (page) => {
    counts.listed += page.length;
    const process = await begin(page);
    const each: Each<E> = async (entry, signal) => {
      try {
        await process(entry, signal);
        faults.succeeded();
      } catch (error) {
        signal.throwIfAborted();
        faults.add(nameOf(entry), error);
      }
      work.onSeen();
    };
    return { each };
  });
}

/** Like `concurrently`, but the first failure aborts the other work, and nothing is still running when this settles. */
async function eachOf<T>(
  items: readonly T[],
  limit: number,
  outer: AbortSignal,
  work: Each<T>,
): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([outer, stop.signal]);
  const left = items[Symbol.iterator]();
  const worker = async () => {
    for (let next = left.next(); !next.done; next = left.next()) {
      signal.throwIfAborted();
      await work(next.value, signal);
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

/** @returns what ended the work early; an interruption is no error, and results so far are still reported */
export async function earlyEnd(
  work: () => Promise<void>,
  signal: AbortSignal,
  describe: (error: unknown) => Error,
): Promise<Error | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return signal.aborted ? undefined : describe(error);
  }
}
