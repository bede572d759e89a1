import { EnvelopeError } from '../../core/envelope/cipher.ts';
import { certificateErrorCode, exitStatus, messageOf, SvcError } from '../../core/errors.ts';
import { S3Error } from '../../core/s3/error.ts';
import { isVaultError } from '../../runtime/vault/contract.ts';
import { NameTaken, TargetRefused } from './decrypt/target.ts';
import { folderFailure } from './decrypt/target-folder.ts';

/** What a run goes through: a bucket, and how the keys begin of the objects that are meant. */
export interface RunPlace {
  readonly bucket: string;
  readonly prefix: string;
}

/** @throws SvcError DECRYPT_USAGE, MIGRATE_USAGE or REWRAP_USAGE for what is not `s3://bucket` or `s3://bucket/prefix` */
export function placeOf(text: string, of: keyof typeof notPlaces): RunPlace {
  const place = readPlace(text);
  if (place === undefined) throw notPlaces[of](text);
  return place;
}

/** @returns undefined for what is not `s3://bucket` or `s3://bucket/prefix` */
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
    nextStep: 'Name the bucket, and the beginning of the keys of the objects that are meant.',
    exitStatus: exitStatus.config,
  });

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

/** An object that a run could not do. */
export interface Fault {
  readonly key: string;
  /** Of the envelope, the key server, the store or the disk: a stable word. */
  readonly reason: string;
  readonly message: string;
}

/** More are counted. */
const mostListed = 1_000;
/** So many objects in a row that the store does not give are no fault of the objects. */
const mostUnavailable = 16;

/** Errors of a file system that are about one name, and not about the disk. */
const ofName = /^(?:ENAMETOOLONG|ENOTDIR|EISDIR|ELOOP|EILSEQ|EINVAL|ENOENT)$/;

/** No store has keys that are longer, and no message needs to be. */
const cut = (text: string) => (text.length > 1024 ? `${text.slice(0, 1024)}…` : text);

/** Sorts what goes wrong into faults of single objects, which are reported at the end, and what ends the run. */
export class Faults {
  readonly listed: Fault[] = [];
  readonly byReason: Record<string, number> = {};
  count = 0;
  #unavailable = 0;
  readonly #folder: string;

  /** @param folder that plaintext is written to */
  constructor(folder = '') {
    this.#folder = folder;
  }

  /** An object was done. */
  succeeded(): void {
    this.#unavailable = 0;
  }

  /** @throws what ends the run: no key server, no store, no room on the disk */
  add(key: string, error: unknown): void {
    const reason = this.#reasonOf(error);
    if (reason === undefined) throw this.#ending(error);
    this.count++;
    this.byReason[reason] = (this.byReason[reason] ?? 0) + 1;
    if (this.listed.length >= mostListed) return;
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
      return ++this.#unavailable < mostUnavailable ? error.code : undefined;
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

/** Codes and next steps, by what cannot be had. */
const failures = {
  decrypt: [
    'DECRYPT_STORE_FAILED',
    'Check --upstream, the bucket, and that the credentials may list it and read its objects; then run it again, and it goes on.',
  ],
  rehearse: [
    'REHEARSAL_STORE_FAILED',
    'Check --upstream, the bucket, and that the credentials may list it and read its objects; then run it again.',
  ],
  target: [
    'DECRYPT_TARGET_FAILED',
    'Check --to, --to-upstream, and that the credentials for it may read and write its objects; then run it again, and it goes on.',
  ],
  migrate: [
    'MIGRATE_STORE_FAILED',
    'Check --upstream, the bucket, and that the credentials may list it, and read and write its objects, their tags and ACLs; then run it again, and it goes on.',
  ],
  rewrap: [
    'REWRAP_STORE_FAILED',
    'Check --upstream, the bucket, and that the credentials may list it, and read and write its objects; then run it again.',
  ],
} as const;

/** Why a run did not get to its end: an error that says so itself, or what is wrong with the store. */
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
