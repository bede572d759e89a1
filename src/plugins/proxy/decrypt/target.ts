import { S3Error } from '../../../core/s3/error.ts';
import type { StoredEntry } from './list-objects.ts';
import type { OpenedObject } from './source.ts';

/** Where plaintext goes, and what is there of it since earlier runs. One run at a time works with it. */
export interface Target {
  /** Pages come in the order of the listing. @throws SvcError for a place that is not to be written to */
  page(objects: readonly StoredEntry[], signal: AbortSignal): Promise<TargetPage>;
  /** @param whole every object was seen */
  close(whole: boolean): void;
}

export interface TargetPage {
  /** Whether an earlier run has brought it here in the state that is listed; what is so, stays. */
  has(object: StoredEntry, signal: AbortSignal): Promise<boolean>;
  /**
   * Keeps a plaintext under its name, which it gets when its last byte was authenticated and is there.
   * @throws NameTaken; what `opened.chunks` throws, after which nothing has changed
   */
  take(object: StoredEntry, opened: OpenedObject, signal: AbortSignal): Promise<TakenIn>;
  /** An object did not come out: an earlier state of it stays known, so that a later run replaces it. */
  keepEarlier(object: StoredEntry): void;
}

export interface TakenIn {
  /** Of the plaintext. */
  readonly bytes: number;
  /** Where it is, if its own name was taken. */
  readonly renamed?: string;
}

/** Something is there that is not of this object. */
export class NameTaken extends Error {
  override readonly name = 'NameTaken';

  constructor(path: string) {
    super(`there is something else already by the name of ${path}`);
  }
}

/** What a store refuses to whom it does not let in: no other object would fare better. */
const noWay = new Set(['NoSuchBucket', 'InvalidBucketName', 'PermanentRedirect', 'MethodNotAllowed']);

/** An answer, or none, of the store that is written to. */
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

/** Whether it is the object of an earlier listing. */
export const isSame = (one: Pick<StoredEntry, 'etag' | 'stored' | 'modified'>, other: StoredEntry): boolean =>
  one.etag === other.etag && one.stored === other.stored && one.modified === other.modified;
