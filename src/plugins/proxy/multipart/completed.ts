import type { ObjectName } from '../../../core/envelope/binding.ts';
import { outward } from '../../../core/s3/etag.ts';
import { encodeKey } from '../../../core/s3/uri.ts';
import { element } from '../../../core/s3/xml-write.ts';
import type { SlowAnswer } from './slow-answer.ts';

/** What came of a Complete. */
export interface Completed extends ObjectName {
  /** As the store has it, quoted. */
  readonly etag: string;
  readonly versionId?: string | undefined;
}

export function completedAnswer({ bucket, key, etag, versionId }: Completed, location: string): SlowAnswer {
  const fields = [
    element('Location', `${location}/${bucket}/${encodeKey(key)}`),
    element('Bucket', bucket),
    element('Key', key),
    element('ETag', outward(etag)),
  ];
  return {
    headers: versionId === undefined ? {} : { 'x-amz-version-id': versionId },
    xml: `<CompleteMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${fields.join('')}</CompleteMultipartUploadResult>`,
  };
}
