import { isVaultError } from '../../keyserver/contract.ts';
import { EnvelopeError } from '../../objects/format/cipher.ts';
import { S3Error } from '../../objects/s3/error.ts';
import { certificateErrorCode, exitStatus, messageOf, SvcError } from '../../runtime/errors.ts';
import { NameTaken, TargetRefused } from './decrypt/target.ts';
import { folderFailure } from './decrypt/target-folder.ts';
import { nameOf, type StoredEntry } from './list-objects.ts';

/** The objects of a run: all keys in `bucket` that begin with `prefix`. */
export interface RunPlace {
  readonly bucket: string;
  readonly prefix: string;
}

/**
 * @throws SvcError DECRYPT_USAGE, MIGRATE_USAGE or REWRAP_USAGE unless `text` is `s3://bucket` or `s3://bucket/prefix`
 */
export function placeOf(text: string, of: keyof typeof notPlaces): RunPlace {
  const place = readPlace(text);
  if (place === undefined) throw notPlaces[of](text);
  return place;
}

/** @returns undefined unless `text` is `s3://bucket` or `s3://bucket/prefix` */
export function readPlace(text: string): RunPlace | undefined {
  const [, bucket, prefix = ''] =
    /^s3:\/\/([A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9])(?:\/(.*))?$/s.exec(text) ?? [];
  return bucket === undefined ? undefined : { bucket, prefix };
}

const notPlaces = {
  decrypt: (text: string) => notPlace('DECRYPT_USAGE', text),
  migrate: (text: string) => notPlace('MIGRATE_USAGE', text),
  rewrap: (text: string) => notPlace('REWRAP_USAGE', text),
};

const notPlace = (code: string, text: string): SvcError =>
  new SvcError(code, `${text} is not of the form s3://bucket or s3://bucket/prefix`, {
    nextStep: 'Name the bucket and, to select objects, the prefix of their keys.',
    exitStatus: exitStatus.config,
  });

/** Like `concurrently`, but the first failure aborts the other work, and nothing is still running when this settles. */
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

/** Work on all objects of a listing. */
export interface Work<E extends StoredEntry = StoredEntry> {
  readonly pages: AsyncIterable<readonly E[]>;
  /** Objects at a time. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly faults: Faults;
  /** Of which the listed ones are counted here. */
  readonly counts: { listed: number };
  /** Called after each object, whether it could be processed or not. */
  onSeen(): void;
}

type ForEach<E> = (entry: E, signal: AbortSignal) => Promise<void>;

/**
 * Page by page, so that what earlier runs left can be read in step with the listing.
 * @param begin called with each page
 * @throws what ends the run; see Faults
 */
export async function workOn<E extends StoredEntry>(
  { pages, concurrency, signal, faults, counts, onSeen }: Work<E>,
  begin: (page: readonly E[]) => ForEach<E> | Promise<ForEach<E>>,
): Promise<void> {
  for await (const page of pages) {
    counts.listed += page.length;
    const process = await begin(page);
    await eachOf(page, concurrency, signal, async (entry, each) => {
      try {
        await process(entry, each);
        faults.succeeded();
      } catch (error) {
        each.throwIfAborted();
        faults.add(nameOf(entry), error);
      }
      onSeen();
    });
  }
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

/** An object that a run could not process. */
export interface Fault {
  readonly key: string;
  /** Stable code of the failure in the envelope, the key server, the store or the file system. */
  readonly reason: string;
  readonly message: string;
}

export interface FaultReport {
  /** The first ones; `faultCount` counts all. */
  readonly faults: readonly Fault[];
  readonly faultCount: number;
  readonly faultsByReason: Readonly<Record<string, number>>;
}

/** Further faults are only counted. */
const maxListed = 1_000;
/** After this many consecutive failures of the store, the store is at fault and not the objects. */
const maxUnavailable = 16;

/** File system errors that concern a single name rather than the disk. */
const ofName = /^(?:ENAMETOOLONG|ENOTDIR|EISDIR|ELOOP|EILSEQ|EINVAL|ENOENT)$/;

/** Store keys are at most this long, and no message needs to be longer. */
const cut = (text: string) => (text.length > 1024 ? `${text.slice(0, 1024)}…` : text);

/** Separates faults of single objects, which are reported at the end, from errors that end the run. */
export class Faults {
  readonly listed: Fault[] = [];
  readonly byReason: Record<string, number> = {};
  count = 0;
  #unavailable = 0;
  readonly #folder: string;

  /** @param folder target folder of the plaintext */
  constructor(folder = '') {
    this.#folder = folder;
  }

  get report(): FaultReport {
    return { faults: this.listed, faultCount: this.count, faultsByReason: this.byReason };
  }

  succeeded(): void {
    this.#unavailable = 0;
  }

  /** @throws errors that end the run: key server or store unavailable, disk full */
  add(key: string, error: unknown): void {
    const reason = this.#reasonOf(error);
    if (reason === undefined) throw this.#ending(error);
    this.count++;
    this.byReason[reason] = (this.byReason[reason] ?? 0) + 1;
    if (this.listed.length >= maxListed) return;
    this.listed.push({ key: cut(key), reason, message: cut(messageOf(error)) });
  }

  #reasonOf(error: unknown): string | undefined {
    if (error instanceof EnvelopeError) return error.reason;
    if (error instanceof NameTaken) return 'name-taken';
    if (isVaultError(error)) {
      if (error.kind === 'rejected') return 'key-refused';
      return error.kind === 'expired-version' ? error.kind : undefined;
    }
    if (error instanceof TargetRefused && error.endsRun) return undefined;
    if (error instanceof S3Error) {
      if (error.status < 500) return error.code;
      return ++this.#unavailable < maxUnavailable ? error.code : undefined;
    }
    const { code } = error as NodeJS.ErrnoException;
    return code !== undefined && ofName.test(code) ? code : undefined;
  }

  #ending(error: unknown): unknown {
    const { code, syscall } = error as NodeJS.ErrnoException;
    const ofDisk = !(error instanceof SvcError) && code !== undefined && syscall !== undefined;
    return ofDisk ? folderFailure(this.#folder, error) : error;
  }
}

/** Error codes and next steps by the store that failed. */
const failures = {
  decrypt: [
    'DECRYPT_STORE_FAILED',
    'Check --upstream, the bucket, and that the credentials may list it and read its objects; then run it again to resume.',
  ],
  rehearse: [
    'REHEARSAL_STORE_FAILED',
    'Check --upstream, the bucket, and that the credentials may list it and read its objects; then run it again.',
  ],
  target: [
    'DECRYPT_TARGET_FAILED',
    'Check --to, --to-upstream, and that the credentials for it may read and write its objects; then run it again to resume.',
  ],
  migrate: [
    'MIGRATE_STORE_FAILED',
    'Check --upstream, the bucket, and that the credentials may list it, and read and write its objects, their tags and ACLs; then run it again to resume.',
  ],
  rewrap: [
    'REWRAP_STORE_FAILED',
    'Check --upstream, the bucket, and that the credentials may list it, and read and write its objects; then run it again.',
  ],
} as const;

/**
 * The error that ended a run early: the error itself when it carries its own next step, else a failure of the store.
 */
export function endOf(
  error: unknown,
  of: Exclude<keyof typeof failures, 'target'>,
  host: string,
  bucket: string,
): Error {
  if (error instanceof SvcError || isVaultError(error)) return error;
  return error instanceof TargetRefused
    ? storeFailure(error, 'target', error.place.host, error.place.bucket)
    : storeFailure(error, of, host, bucket);
}

function storeFailure(error: unknown, of: keyof typeof failures, host: string, bucket: string): SvcError {
  const certificate = certificateErrorCode(error);
  const name =
    certificate ?? (error instanceof S3Error ? error.code : error instanceof Error ? error.name : 'unknown');
  const [code, nextStep] = failures[of];
  return new SvcError(
    code,
    `The object store ${host} refused bucket ${bucket} or could not be reached (${name})`,
    {
      nextStep,
      exitStatus: certificate === undefined ? exitStatus.unavailable : exitStatus.config,
      cause: error,
    },
  );
}
