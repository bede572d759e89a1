import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import type { Rig } from '../../support/rig.ts';

export const MiB = 1024 * 1024;
/** What encryption adds to a body, in bytes. */
export const overhead = 28;

/** The file in which versitygw keeps the object. */
export const fileOf = ({ store, bucket }: Rig, key: string): string => join(store.dataDir, bucket, key);

/** Changes stored bytes in place: metadata and ETag stay as they were. */
export function editFile(rig: Rig, key: string, edit: (stored: Buffer) => Uint8Array): void {
  const path = fileOf(rig, key);
  writeFileSync(path, edit(readFileSync(path)));
}

/** One bit changed; a negative place counts from the end. */
export const flip =
  (place: number) =>
  (stored: Buffer): Buffer => {
    const copy = Buffer.from(stored);
    const at = place < 0 ? copy.length + place : place;
    copy.writeUInt8(copy.readUInt8(at) ^ 0x10, at);
    return copy;
  };

export type Metadata = Record<string, string>;

/** User metadata as the store has it, without `x-amz-meta-`. */
export async function metadataOf({ store, bucket }: Rig, key: string): Promise<Metadata> {
  const { Metadata: found = {} } = await store.client.send(
    new HeadObjectCommand({ Bucket: bucket, Key: key }),
  );
  return { ...found };
}

/** Stores an object past the proxy. */
export async function plant(rig: Rig, key: string, body: Uint8Array, metadata: Metadata): Promise<void> {
  const { store, bucket } = rig;
  await store.client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body, Metadata: metadata }));
}

/** Changes the metadata of a stored object and nothing else. */
export async function editMetadata(rig: Rig, key: string, edit: (metadata: Metadata) => void): Promise<void> {
  const metadata = await metadataOf(rig, key);
  edit(metadata);
  await plant(rig, key, readFileSync(fileOf(rig, key)), metadata);
}

export interface UploadedParts {
  readonly UploadId: string;
  readonly Parts: { readonly PartNumber: number; readonly ETag: string }[];
}

/** Begins an upload and sends these parts, numbered from 1. */
export async function sendParts(
  s3: S3Client,
  Bucket: string,
  Key: string,
  bodies: readonly Uint8Array[],
): Promise<UploadedParts> {
  const { UploadId = '' } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const Parts = [];
  for (const [index, Body] of bodies.entries()) {
    const PartNumber = index + 1;
    const { ETag = '' } = await s3.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
    Parts.push({ PartNumber, ETag });
  }
  return { UploadId, Parts };
}

/** @returns the ETag of the object. */
export async function complete(
  s3: S3Client,
  Bucket: string,
  Key: string,
  { UploadId, Parts }: UploadedParts,
): Promise<string> {
  const command = new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } });
  return (await s3.send(command)).ETag ?? '';
}

export async function putParts(s3: S3Client, Bucket: string, Key: string, bodies: readonly Uint8Array[]) {
  return complete(s3, Bucket, Key, await sendParts(s3, Bucket, Key, bodies));
}
