import { hash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { S3Error, s3Error } from '../../../objects/s3/error.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import { writeAtomically } from '../atomic-file.ts';
import type { SharedBlobs } from './blobs.ts';
import type { DevObject, Part, Upload } from './object.ts';

/** Buckets, objects and uploads. Each change is on disk, if there is one, before it is visible. */
export class Catalog {
  readonly blobs: SharedBlobs;
  readonly #records: Records;
  readonly #buckets = new Map<string, Bucket>();

  constructor(records: Records, blobs: SharedBlobs) {
    this.#records = records;
    this.blobs = blobs;
    for (const record of recordsInOrder(records.load())) this.#restore(record);
    blobs.removeOthers();
  }

  /** By name. */
  buckets(): Bucket[] {
    return [...this.#buckets.values()].sort((left, right) => (left.name < right.name ? -1 : 1));
  }

  /** @throws S3Error NoSuchBucket */
  bucket(name: string): Bucket {
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) throw s3Error('NoSuchBucket', undefined, { details: { BucketName: name } });
    return bucket;
  }

  /** As in us-east-1, creating one's own bucket again is a success. */
  createBucket(name: string): void {
    if (this.#buckets.has(name)) return;
    const bucket = new Bucket(name, Date.now());
    this.#records.save(['bucket', name], { kind: 'bucket', name, created: bucket.created });
    this.#buckets.set(name, bucket);
  }

  /** @throws S3Error BucketNotEmpty */
  deleteBucket(name: string): void {
    const bucket = this.bucket(name);
    if (bucket.objects.size > 0)
      throw new S3Error('BucketNotEmpty', 409, 'The bucket you tried to delete is not empty.');
    for (const { upload } of bucket.uploads.values()) this.endUpload(upload);
    this.#records.remove(['bucket', name]);
    this.#buckets.delete(name);
  }

  /** Puts or replaces the object; retains its content. */
  put(object: DevObject): void {
    const { objects } = this.bucket(object.bucket);
    const before = objects.get(object.key);
    this.#records.save(['object', object.bucket, object.key], { kind: 'object', object });
    this.blobs.retain(object.content);
    objects.set(object.key, object);
    if (before) this.blobs.release(before.content);
  }

  /** Deleting a missing object is a success. */
  remove({ name, objects }: Bucket, key: string): void {
    const before = objects.get(key);
    if (before === undefined) return;
    this.#records.remove(['object', name, key]);
    objects.delete(key);
    this.blobs.release(before.content);
  }

  beginUpload(upload: Upload): void {
    const { uploads } = this.bucket(upload.bucket);
    this.#records.save(['upload', upload.id], { kind: 'upload', upload });
    uploads.set(upload.id, { upload, parts: new Map() });
  }

  /** @throws S3Error NoSuchUpload if the upload has ended meanwhile */
  putPart({ bucket, key, id }: Upload, part: Part): void {
    const { parts } = this.bucket(bucket).upload(key, id);
    const before = parts.get(part.number);
    this.#records.save(partName(id, part), { kind: 'part', bucket, key, upload: id, part });
    this.blobs.retain(contentOf(part));
    parts.set(part.number, part);
    if (before) this.blobs.release(contentOf(before));
  }

  /** Forgets an upload and its parts. */
  endUpload({ bucket, key, id }: Upload): void {
    const { uploads } = this.bucket(bucket);
    const { parts } = this.bucket(bucket).upload(key, id);
    this.#records.remove(['upload', id]);
    uploads.delete(id);
    for (const part of parts.values()) {
      this.#records.remove(partName(id, part));
      this.blobs.release(contentOf(part));
    }
  }

  #restore(record: KeptRecord): void {
    if (record.kind === 'bucket') {
      this.#buckets.set(record.name, new Bucket(record.name, record.created));
    } else if (record.kind === 'object') {
      this.blobs.retain(record.object.content);
      this.#buckets.get(record.object.bucket)?.objects.set(record.object.key, record.object);
    } else if (record.kind === 'upload') {
      const { upload } = record;
      this.#buckets.get(upload.bucket)?.uploads.set(upload.id, { upload, parts: new Map() });
    } else this.#restorePart(record);
  }

  /** A crash can leave a part of an ended upload behind. */
  #restorePart({ bucket, upload, part }: KeptRecord & { kind: 'part' }): void {
    const open = this.#buckets.get(bucket)?.uploads.get(upload);
    if (open === undefined) return this.#records.remove(partName(upload, part));
    this.blobs.retain(contentOf(part));
    open.parts.set(part.number, part);
  }
}

const partName = (upload: string, { number }: Part) => ['part', upload, String(number)];

const contentOf = ({ blob }: Part) => (blob ? [blob] : []);

/** A record of the catalog on disk. */
type KeptRecord =
  | { readonly kind: 'bucket'; readonly name: string; readonly created: number }
  | { readonly kind: 'object'; readonly object: DevObject }
  | { readonly kind: 'upload'; readonly upload: Upload }
  | {
      readonly kind: 'part';
      readonly bucket: string;
      readonly key: string;
      readonly upload: string;
      readonly part: Part;
    };

const order: readonly KeptRecord['kind'][] = ['bucket', 'object', 'upload', 'part'];

/** In the order of dependencies. */
function recordsInOrder(values: readonly unknown[]): KeptRecord[] {
  const place = ({ kind }: KeptRecord) => order.indexOf(kind);
  return (values as KeptRecord[]).toSorted((left, right) => place(left) - place(right));
}

export interface DevUpload {
  readonly upload: Upload;
  readonly parts: Map<number, Part>;
}

/** A bucket and what is in it. Versions are not kept. */
export class Bucket {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly objects = new SortedMap<DevObject>();
  readonly uploads = new Map<string, DevUpload>();

  constructor(name: string, created: number) {
    this.name = name;
    this.created = created;
  }

  /** @throws S3Error NoSuchKey, NoSuchVersion */
  object(key: string, versionId?: string): DevObject {
    if (versionId !== undefined && versionId !== 'null') throw s3Error('NoSuchVersion');
    const object = this.objects.get(key);
    if (object === undefined) throw s3Error('NoSuchKey', undefined, { details: { Key: key } });
    return object;
  }

  /** @throws S3Error NoSuchUpload, also for an upload of another key */
  upload(key: string, id: string | undefined): DevUpload {
    const open = this.uploads.get(id ?? '');
    if (open?.upload.key !== key)
      throw s3Error('NoSuchUpload', undefined, { details: { UploadId: id ?? '' } });
    return open;
  }
}

/** Small JSON documents by name; names may contain anything. */
interface Records {
  load(): unknown[];
  save(name: readonly string[], value: unknown): void;
  remove(name: readonly string[]): void;
}

/** Nothing outlives the process. */
export const noRecords: Records = { load: () => [], save: () => undefined, remove: () => undefined };

const own = /^[0-9a-f]{64}\.json$/;

/** One file per record, named by the hash of the record's name, in an existing folder. */
export function fileRecords(folder: string): Records {
  const path = (name: readonly string[]) =>
    join(folder, `${hash('sha256', JSON.stringify(name), 'hex')}.json`);
  return {
    load: () =>
      readdirSync(folder)
        .filter((name) => own.test(name))
        .map((name) => read(join(folder, name))),
    save: (name, value) => writeAtomically(path(name), JSON.stringify(value)),
    remove: (name) => rmSync(path(name), { force: true }),
  };
}

function read(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new SvcError('DEV_STORE', `The development store's file ${path} cannot be read`, {
      nextStep: 'Fix or remove the file, or give another folder with --data.',
      exitStatus: exitStatus.config,
      cause,
    });
  }
}

/** Values by key in the order of S3's listings: UTF-8 bytes. */
export class SortedMap<T> {
  readonly #values = new Map<string, T>();
  readonly #keys: string[] = [];

  get size(): number {
    return this.#keys.length;
  }

  get(key: string): T | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: T): void {
    if (!this.#values.has(key)) this.#keys.splice(this.#position(key), 0, key);
    this.#values.set(key, value);
  }

  delete(key: string): void {
    if (this.#values.delete(key)) this.#keys.splice(this.#position(key), 1);
  }

  /** Entries from `key` on. */
  *from(key: string): Generator<[key: string, value: T]> {
    for (let at = this.#position(key); at < this.#keys.length; at++) {
      const name = this.#keys[at] as string;
      yield [name, this.#values.get(name) as T];
    }
  }

  #position(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareKeys(this.#keys[middle] as string, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Negative, 0 or positive, in the order of UTF-8 bytes. */
export function compareKeys(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const difference = rank(left.charCodeAt(at)) - rank(right.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Surrogates sort below U+E000 in UTF-16, but their characters sort above U+FFFF in UTF-8. */
function rank(unit: number): number {
  if (unit >= 0xe000) return unit - 0x800;
  return unit >= 0xd800 ? unit + 0x2000 : unit;
}
