import { EnvelopeError } from '../../../core/envelope/cipher.ts';
import { messageOf, SvcError } from '../../../core/errors.ts';
import { S3Error } from '../../../core/s3/error.ts';
import { isVaultError } from '../../../runtime/vault/contract.ts';
import { NameTaken, TargetRefused } from './target.ts';
import { folderFailure } from './target-folder.ts';

/** An object that did not come out. */
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
const ofName = new Set(['ENAMETOOLONG', 'ENOTDIR', 'EISDIR', 'ELOOP', 'EILSEQ', 'EINVAL', 'ENOENT']);

/** No store has keys that are longer, and no message needs to be. */
const cut = (text: string) => (text.length > 1024 ? `${text.slice(0, 1024)}…` : text);

/** Sorts what goes wrong into faults of single objects, which are reported at the end, and what ends the run. */
export class Faults {
  readonly listed: Fault[] = [];
  readonly byReason: Record<string, number> = {};
  count = 0;
  #unavailable = 0;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** An object has come out. */
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
    return code !== undefined && ofName.has(code) ? code : undefined;
  }

  #ending(error: unknown): unknown {
    const { code, syscall } = error as NodeJS.ErrnoException;
    const ofDisk = !(error instanceof SvcError) && code !== undefined && syscall !== undefined;
    return ofDisk ? folderFailure(this.#folder, error) : error;
  }
}
