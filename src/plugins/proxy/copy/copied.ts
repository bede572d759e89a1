import type { Checksums } from '../../../core/s3/checksum.ts';
import { checksumElement } from '../../../core/s3/complete-multipart.ts';
import { outward } from '../../../core/s3/etag.ts';
import { responseHeadersDownstream } from '../../../core/s3/headers.ts';
import { element } from '../../../core/s3/xml-write.ts';
import type { SlowAnswer } from '../multipart/slow-answer.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';

/** What came of a copy. */
export interface Copied {
  /** As the store has it, quoted. */
  readonly etag: string;
  /** ISO 8601; undefined when the store did not say. */
  readonly lastModified: string | undefined;
  /** The store's answer to the write. */
  readonly headers: UpstreamResponse['headers'];
  /** Of the plaintext, where the caller asked for any. */
  readonly checksums?: Checksums;
}

const sourceVersion = 'x-amz-copy-source-version-id';

/** `root`: `CopyObjectResult` or `CopyPartResult`. */
export function copiedAnswer(
  root: string,
  { etag, lastModified, headers, checksums = new Map() }: Copied,
  versionId: string | undefined,
): SlowAnswer {
  const modified = lastModified ?? new Date().toISOString();
  const fields = [
    element('LastModified', modified),
    element('ETag', outward(etag)),
    ...[...checksums].map(([algorithm, digest]) =>
      element(checksumElement(algorithm), digest.toString('base64')),
    ),
  ];
  return {
    headers: { ...ofWrite(headers), ...(versionId === undefined ? {} : { [sourceVersion]: versionId }) },
    xml: `<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${fields.join('')}</${root}>`,
  };
}

const ofBody = new Set(['content-type', 'etag', 'x-amz-object-size']);

const ofWrite = (headers: UpstreamResponse['headers']): Record<string, string> =>
  Object.fromEntries(
    Object.entries(responseHeadersDownstream(headers)).filter(([name]) => !ofBody.has(name)),
  );
