import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import type { S3Endpoint, StoredObject } from './contract.ts';
import { statusOf } from './failure.ts';

/** A bucket behind one endpoint, through the AWS SDK. */
export function s3Endpoint(client: S3Client, host: string, Bucket: string): S3Endpoint {
  return {
    host,
    async put(Key, Body, abortSignal) {
      await client.send(new PutObjectCommand({ Bucket, Key, Body }), { abortSignal });
    },
    get: (key, signal) => get(client, Bucket, key, signal),
    async remove(Key, VersionId, abortSignal) {
      await client.send(new DeleteObjectCommand({ Bucket, Key, VersionId }), { abortSignal });
    },
    hasBucket: (signal) => hasBucket(client, Bucket, signal),
  };
}

async function get(
  client: S3Client,
  Bucket: string,
  Key: string,
  abortSignal: AbortSignal,
): Promise<StoredObject> {
  const found = await client.send(new GetObjectCommand({ Bucket, Key }), { abortSignal });
  const { Body, Metadata = {}, VersionId: version } = found;
  const body = Buffer.from((await Body?.transformToByteArray()) ?? []);
  const metadata = Object.entries(Metadata).map(([name, value]) => [name.toLowerCase(), value]);
  return { body, metadata: Object.fromEntries(metadata), version };
}

async function hasBucket(client: S3Client, Bucket: string, abortSignal: AbortSignal): Promise<boolean> {
  try {
    await client.send(new HeadBucketCommand({ Bucket }), { abortSignal });
    return true;
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw error;
  }
}
