import { S3Error } from '../../../objects/s3/error.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import type { FaultJudge } from '../engine/faults.ts';
import type { StoredEntry } from '../engine/list-objects.ts';
import type { OpenedObject } from '../engine/open-object.ts';

/** A place for plaintext, with the results of earlier runs. One run uses it at a time. */
export interface Target {
  /** Pages follow listing order. @throws SvcError for a place that must not be written to */
  page(objects: readonly StoredEntry[], signal: AbortSignal): Promise<TargetPage>;
  /** @param whole every object of the listing was seen */
  close(whole: boolean): void;
}

export interface TargetPage {
  /** Whether an earlier run stored the listed state of the object; such objects are skipped. */
  has(object: StoredEntry, signal: AbortSignal): Promise<boolean>;
  /**
   * Stores a plaintext; it gets its name only after its last byte was authenticated and stored.
   * @throws NameTaken; errors of `opened.chunks`, after which nothing has changed
   */
  take(object: StoredEntry, opened: OpenedObject, signal: AbortSignal): Promise<TakenIn>;
  /** Call when an object failed: keeps its earlier state on record, so that a later run replaces it. */
  keepEarlier(object: StoredEntry): void;
}

export interface TakenIn {
  /** Plaintext bytes. */
  readonly bytes: number;
  /** Actual location, if the usual name was taken. */
  readonly renamed?: string;
}

/** The name belongs to something else than this object. */
export class NameTaken extends Error {
  override readonly name = 'NameTaken';

  constructor(path: string) {
    super(`something else already has the name ${path}`);
  }
}

/** Refusals that concern the whole bucket: no other object would fare better. */
const noWay = new Set(['NoSuchBucket', 'InvalidBucketName', 'PermanentRedirect', 'MethodNotAllowed']);

/** The target store refused a request or did not answer. */
export class TargetRefused extends S3Error {
  readonly place: { readonly host: string; readonly bucket: string };

  constructor(cause: S3Error, place: { readonly host: string; readonly bucket: string }) {
    super(cause.code, cause.status, cause.message, { cause });
    this.place = place;
  }

  get endsRun(): boolean {
    return this.status === 401 || this.status === 403 || noWay.has(this.code);
  }
}

/** File system errors that concern a single name rather than the disk. */
const ofName = /^(?:ENAMETOOLONG|ENOTDIR|EISDIR|ELOOP|EILSEQ|EINVAL|ENOENT)$/;

/** What failures of the target say of the object that was to go there. */
export const judgeTarget =
  (to: string): FaultJudge =>
  (error) => {
    if (error instanceof NameTaken) return 'name-taken';
    if (error instanceof TargetRefused) return error.endsRun ? error : undefined;
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (code === undefined || error instanceof SvcError) return undefined;
    if (ofName.test(code)) return code;
    return syscall === undefined ? undefined : folderFailure(to, error);
  };

export const folderFailure = (root: string, cause: unknown): SvcError =>
  new SvcError('DECRYPT_FOLDER', `${root} cannot be written (${(cause as NodeJS.ErrnoException).code})`, {
    nextStep: 'Check its permissions and the space on its disk; then run it again to resume.',
    exitStatus: exitStatus.system,
    cause,
  });

/** Whether two listings show the same state of an object. */
export const isSame = (one: Pick<StoredEntry, 'etag' | 'stored' | 'modified'>, other: StoredEntry): boolean =>
  one.etag === other.etag && one.stored === other.stored && one.modified === other.modified;
