import { PutObjectCommand } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { s3Client } from '../../support/object-store.ts';
import type { S3Target } from '../../support/types.ts';

/** A presigned PUT, valid for a minute from `signingDate` on. */
export async function presignedPut(target: S3Target, Bucket: string, Key: string, signingDate = new Date()) {
  const client = await s3Client(target);
  try {
    return await getSignedUrl(client, new PutObjectCommand({ Bucket, Key }), { expiresIn: 60, signingDate });
  } finally {
    client.destroy();
  }
}
