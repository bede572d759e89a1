import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { inParallel } from '../support/in-parallel.ts';
import { bytesOf } from '../support/payload.ts';
import { Bucket } from '../support/real-bed.ts';
import type { SoakClient } from './client.ts';
import type { Content } from './holdings.ts';
import { objectSize, partSizes } from './sizes.ts';

/** Does one thing with one key. @throws what the request throws */
export type Operation = (client: SoakClient, key: string) => Promise<void>;

/** Writes an object, often over another. */
export const put: Operation = async (client, Key) => {
  const piece = { name: client.freshName(), size: objectSize(client.random) };
  const Body = bytesOf(piece.name, piece.size);
  const { ETag } = await client.s3.send(new PutObjectCommand({ Bucket, Key, Body }));
  client.wrote(Key, { content: [piece], etag: ETag });
};

/** Uploads an object in parts, two at a time. */
export const putInParts: Operation = async (client, Key) => {
  const { UploadId, content, etags } = await uploadParts(client, Key);
  const Parts = etags.map((ETag, index) => ({ PartNumber: index + 1, ETag }));
  const complete = { Bucket, Key, UploadId, MultipartUpload: { Parts } };
  const { ETag } = await client.s3.send(new CompleteMultipartUploadCommand(complete));
  client.wrote(Key, { content, etag: ETag });
};

/** Uploads parts and gives up; the object that was there stays. */
export const abort: Operation = async (client, Key) => {
  const { UploadId } = await uploadParts(client, Key);
  await client.s3.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
};

async function uploadParts(client: SoakClient, Key: string) {
  const { UploadId } = await client.s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const content: Content = partSizes(client.random).map((size) => ({ name: client.freshName(), size }));
  const etags: (string | undefined)[] = [];
  await inParallel(content.length, 2, async (index) => {
    const { name, size } = content[index] as Content[number];
    const part = { Bucket, Key, UploadId, PartNumber: index + 1, Body: bytesOf(name, size) };
    etags[index] = (await client.s3.send(new UploadPartCommand(part))).ETag;
  });
  return { UploadId, content, etags };
}

/** Copies an object that it holds. */
export const copy: Operation = async (client, Key) => {
  const source = client.heldKey();
  const held = source === undefined ? undefined : client.held.get(source);
  if (source === undefined || held === undefined || source === Key) return;
  const CopySource = `${Bucket}/${encodeURIComponent(source)}`;
  const { CopyObjectResult } = await client.s3.send(new CopyObjectCommand({ Bucket, Key, CopySource }));
  client.wrote(Key, { content: held.content, etag: CopyObjectResult?.ETag });
};

export const remove: Operation = async (client, Key) => {
  await client.s3.send(new DeleteObjectCommand({ Bucket, Key }));
  client.held.delete(Key);
};
