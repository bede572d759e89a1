import { CreateMultipartUploadCommand, UploadPartCommand } from '@aws-sdk/client-s3';
import { uploadPrefix } from '../../../../src/objects/format/records.ts';
import { s3Client } from '../../../support/object-store.ts';
import type { S3Target } from '../../../support/types.ts';
import type { AnswerKind, WorstInput } from '../input.ts';
import { sendBytes } from '../send.ts';
import { bytesOf } from './callers.ts';
import { filled, MiB } from './pieces.ts';
import { endless, type Lie } from './store.ts';

/** An upload through the proxy, whose records the store tells as it likes. */
interface UploadInput {
  readonly name: string;
  /** Records of part 1 beside the true one. */
  readonly records: number;
  readonly line: (uploadId: string) => string;
  readonly body?: () => Buffer;
  readonly outcomes: readonly AnswerKind[];
  readonly atOnce?: number;
}

const list = (id: string) => `GET /bucket/upload?max-parts=1&uploadId=${id}`;
const complete = (id: string) => `POST /bucket/upload?uploadId=${id}`;
const tenThousandParts = () =>
  filled(
    4 * MiB,
    '<CompleteMultipartUpload>',
    (index) =>
      index < 10_000
        ? `<Part><PartNumber>${index + 1}</PartNumber><ETag>"${'a'.repeat(32)}"</ETag></Part>`
        : ' '.repeat(4 * MiB),
    '</CompleteMultipartUpload>',
  );

/** Beyond them a proxy takes no part that is sent again; several proxies, or a store that lies, may show more. */
const mostRecords = 11_000;

const uploads: readonly UploadInput[] = [
  {
    name: 'ListParts of an upload of as many records as a proxy leaves',
    records: mostRecords,
    line: list,
    outcomes: [200, 500],
    atOnce: 64,
  },
  {
    name: 'ListParts of an upload of three times as many records',
    records: 3 * mostRecords,
    line: list,
    outcomes: [200, 400, 500],
  },
  {
    ...{
      name: 'Complete of an upload of as many records as a proxy leaves',
      records: mostRecords,
      line: complete,
      atOnce: 40,
    },
    // 200: it began to answer, with blanks, before it knew; the error is in the body, as S3 has it
    ...{ body: tenThousandParts, outcomes: [200, 400] },
  },
  {
    ...{
      name: 'Complete of an upload of three times as many records',
      records: 3 * mostRecords,
      line: complete,
    },
    ...{ body: tenThousandParts, outcomes: [200, 400, 500] },
  },
];

/**
 * @param proxy where it is now
 * @param lies where the answers of the store about an upload are kept, by its id
 */
export function uploadInputs(
  bucket: string,
  proxy: () => S3Target,
  lies: Map<string, (path: string) => Lie | undefined>,
): WorstInput[] {
  return uploads.map(({ name, records, line, body, outcomes, atOnce = 16 }) => {
    let uploadId = '';
    return {
      ...{ name, outcomes, atOnce },
      async prepare() {
        uploadId = await beginUpload(bucket, proxy());
        const prefix = uploadPrefix('.svc/', uploadId);
        const isOfIt = (path: string) => path.includes('list-type=2') && path.includes(prefix);
        lies.set(uploadId, (path) => (isOfIt(path) ? { body: endless(prefix, path, records) } : undefined));
      },
      send: () =>
        sendBytes(proxy().endpoint, bytesOf({ name, line: line(uploadId), outcomes, ...(body && { body }) })),
    };
  });
}

/** An upload with one part. */
async function beginUpload(Bucket: string, target: S3Target): Promise<string> {
  const s3 = await s3Client(target);
  const at = { Bucket, Key: 'upload' };
  const begun = await s3.send(new CreateMultipartUploadCommand({ ...at, ChecksumAlgorithm: 'CRC32' }));
  const { UploadId = '' } = begun;
  await s3.send(new UploadPartCommand({ ...at, UploadId, PartNumber: 1, Body: 'x' }));
  s3.destroy();
  return UploadId;
}
