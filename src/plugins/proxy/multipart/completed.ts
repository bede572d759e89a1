import type { ObjectName } from '../../../core/envelope/binding.ts';
import { checksumElement } from '../../../core/s3/complete-multipart.ts';
import { outward } from '../../../core/s3/etag.ts';
import type { VerifiedChecksum } from '../../../core/s3/object-checksum.ts';
import { encodeKey } from '../../../core/s3/uri.ts';
import { element } from '../../../core/s3/xml-write.ts';
import type { SlowAnswer } from './slow-answer.ts';

/** What came of a Complete. */
export interface Completed extends ObjectName {
  /** As the store has it, quoted. */
  readonly etag: string;
  readonly versionId?: string | undefined;
  /** Of the plaintext, where the caller named one and it was found right. */
  readonly checksum?: VerifiedChecksum | undefined;
}

export function completedAnswer(completed: Completed, location: string): SlowAnswer {
  const { bucket, key, etag, versionId, checksum } = completed;
  const fields = [
    element('Location', `${location}/${bucket}/${encodeKey(key)}`),
    element('Bucket', bucket),
    element('Key', key),
    element('ETag', outward(etag)),
    ...(checksum === undefined
      ? []
      : [
          element(checksumElement(checksum.algorithm), checksum.text),
          element('ChecksumType', checksum.type),
        ]),
  ];
  return {
    headers: versionId === undefined ? {} : { 'x-amz-version-id': versionId },
    xml: `<CompleteMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${fields.join('')}</CompleteMultipartUploadResult>`,
  };
}
