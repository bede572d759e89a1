import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  ListPartsCommand,
  type ListPartsCommandOutput,
  type Part,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { inParallel } from '../support/in-parallel.ts';
import { bytesOf } from '../support/payload.ts';
import { Bucket } from './bed.ts';

export const Key = 'of/ten thousand parts.bin';
export const partCount = 10_000;
const uploaders = 16;

/** A part has not the size of its neighbours, so that an offset that is off by a part shows. Bytes. */
export const sizeOf = (partNumber: number): number => 1024 + ((partNumber * 37) % 4093);

/** Where each part begins, and last the size of all of them. */
export const starts: readonly number[] = beginnings();

/** What is uploaded. */
export const whole = bytesOf('ten thousand parts', starts[partCount] ?? 0);

function beginnings(): number[] {
  const sums = [0];
  for (let number = 1; number <= partCount; number++) sums.push((sums.at(-1) ?? 0) + sizeOf(number));
  return sums;
}

export interface Uploaded {
  readonly UploadId: string | undefined;
  /** In order, `etags[n - 1]` of part n. */
  readonly etags: readonly (string | undefined)[];
}

export async function upload(s3: S3Client): Promise<Uploaded> {
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const etags: (string | undefined)[] = [];
  await inParallel(partCount, uploaders, async (index) => {
    const Body = whole.subarray(starts[index], starts[index + 1]);
    const part = { Bucket, Key, UploadId, PartNumber: index + 1, Body };
    etags[index] = (await s3.send(new UploadPartCommand(part))).ETag;
  });
  return { UploadId, etags };
}

/** Every page of ListParts. */
export async function listParts(s3: S3Client, UploadId: string | undefined): Promise<Part[][]> {
  const pages: Part[][] = [];
  for (let marker: string | undefined = '0'; marker !== undefined; ) {
    const wanted = { Bucket, Key, UploadId, PartNumberMarker: marker };
    const page: ListPartsCommandOutput = await s3.send(new ListPartsCommand(wanted));
    pages.push(page.Parts ?? []);
    marker = page.IsTruncated ? page.NextPartNumberMarker : undefined;
  }
  return pages;
}

/** @returns the object's ETag */
export async function complete(s3: S3Client, { UploadId, etags }: Uploaded): Promise<string | undefined> {
  const Parts = etags.map((ETag, index) => ({ PartNumber: index + 1, ETag }));
  const wanted = { Bucket, Key, UploadId, MultipartUpload: { Parts } };
  return (await s3.send(new CompleteMultipartUploadCommand(wanted))).ETag;
}
