import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { Bucket } from '../support/real-bed.ts';
import type { Kind } from './kinds.ts';

export interface Clients {
  /** To the proxy. */
  readonly through: S3Client;
  /** To the store. */
  readonly direct: S3Client;
}

type Write = (clients: Clients, Key: string) => Promise<unknown>;

const Body = 'an object';
const part = Buffer.alloc(5 * 1024 ** 2, 'x');

/** As the S3 encryption client of others writes it. */
const foreignMetadata = {
  'x-amz-key-v2': 'AAAA',
  'x-amz-iv': 'AAAA',
  'x-amz-cek-alg': 'AES/GCM/NoPadding',
  'x-amz-wrap-alg': 'kms+context',
};

/** Writes one object of each kind in the way that makes it one. */
export const write: Readonly<Record<Kind, Write>> = {
  first: ({ through }, Key) => put(through, Key),
  second: ({ through }, Key) => put(through, Key),
  parts: ({ through }, Key) => inParts(through, Key),
  plain: ({ direct }, Key) => put(direct, Key),
  foreign: ({ direct }, Key) => put(direct, Key, foreignMetadata),
  unreadable: ({ direct }, Key) => put(direct, Key, { 'svc-encrypted': 'true' }),
};

function put(s3: S3Client, Key: string, Metadata: Record<string, string> = {}): Promise<unknown> {
  return s3.send(new PutObjectCommand({ Bucket, Key, Body, Metadata }));
}

async function inParts(s3: S3Client, Key: string): Promise<void> {
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const { ETag } = await s3.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: part }));
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
  await s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }));
}
