import { createHash, type Hash } from 'node:crypto';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { inParallel } from '../support/in-parallel.ts';
import { bytesOf } from '../support/payload.ts';
import { Bucket } from '../support/real-bed.ts';

const mib = 1024 ** 2;
const Key = 'five gibibytes.bin';
const partBytes = 64 * mib;
const partCount = 80;
const uploaders = 4;

export const totalBytes = partBytes * partCount;

const partOf = (number: number): Buffer => bytesOf(`part ${number}`, partBytes);

/** Uploads the object in parts. @returns the SHA-256 of what was sent */
export async function uploadLarge(s3: S3Client): Promise<string> {
  const hash = createHash('sha256');
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const Parts: { PartNumber: number; ETag: string | undefined }[] = [];
  await inParallel(partCount, uploaders, async (index) => {
    const [PartNumber, Body] = [index + 1, partOf(index + 1)];
    hash.update(Body); // calls begin in the order of the parts, and nothing waits before this line
    const { ETag } = await s3.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
    Parts[index] = { PartNumber, ETag };
  });
  await s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }));
  return hash.digest('hex');
}

/** Reads it as a stream. @returns the SHA-256 and the length of what came */
export async function readLarge(s3: S3Client): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
  const hash = createHash('sha256');
  const bytes = await drain(Body as AsyncIterable<Buffer>, hash);
  return { sha256: hash.digest('hex'), bytes };
}

async function drain(body: AsyncIterable<Buffer>, hash: Hash): Promise<number> {
  let bytes = 0;
  for await (const chunk of body) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return bytes;
}

/** Makes room on the disk again. */
export async function removeLarge(s3: S3Client): Promise<void> {
  await s3.send(new DeleteObjectCommand({ Bucket, Key }));
}
