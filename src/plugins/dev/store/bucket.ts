import { s3Error } from '../../../core/s3/error-catalog.ts';
import type { Part, StoredObject, Upload } from './model.ts';
import { SortedMap } from './sorted-map.ts';

export interface OpenUpload {
  readonly upload: Upload;
  readonly parts: Map<number, Part>;
}

/** A bucket and what is in it. Versions are not kept. */
export class Bucket {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly objects = new SortedMap<StoredObject>();
  readonly uploads = new Map<string, OpenUpload>();

  constructor(name: string, created: number) {
    this.name = name;
    this.created = created;
  }

  /** @throws S3Error NoSuchKey, NoSuchVersion */
  object(key: string, versionId?: string): StoredObject {
    if (versionId !== undefined && versionId !== 'null') throw s3Error('NoSuchVersion');
    const object = this.objects.get(key);
    if (object === undefined) throw s3Error('NoSuchKey', undefined, { details: { Key: key } });
    return object;
  }

  /** @throws S3Error NoSuchUpload, also for an upload of another key */
  upload(key: string, id: string | undefined): OpenUpload {
    const open = this.uploads.get(id ?? '');
    if (open?.upload.key !== key)
      throw s3Error('NoSuchUpload', undefined, { details: { UploadId: id ?? '' } });
    return open;
  }
}
