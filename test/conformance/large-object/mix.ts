import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { inParallel } from '../support/in-parallel.ts';
import { bytesOf } from '../support/payload.ts';
import { readObject } from '../support/read-object.ts';
import { Bucket } from '../support/real-bed.ts';

const bytes = 64 * 1024 ** 2;
const atOnce = 8;
const requests = 64;

/** That pass through the proxy, both ways. */
export const mixBytes = requests * bytes;

const keyOf = (index: number): string => `mix/${index}`;
/** All objects have the same content; what an object is bound to tells them apart. */
const content = () => bytesOf('mix', bytes);

/** Objects for the reads. */
export async function prepareMix(s3: S3Client): Promise<void> {
  const Body = content();
  await inParallel(atOnce, 2, async (index) => {
    await s3.send(new PutObjectCommand({ Bucket, Key: keyOf(index), Body }));
  });
}

/**
 * Eight PUT and GET of 64 MiB at any time, in turns.
 * @returns how many of the reads gave what was written
 */
export async function runMix(s3: S3Client): Promise<{ readonly reads: number; readonly right: number }> {
  const Body = content();
  const counts = { reads: 0, right: 0 };
  await inParallel(requests, atOnce, async (index) => {
    const Key = keyOf(index % atOnce);
    if (index % 2 === 0) {
      await s3.send(new PutObjectCommand({ Bucket, Key: `${Key}-written`, Body }));
      return;
    }
    counts.reads += 1;
    const { body } = await readObject(s3, Bucket, Key);
    if (body.equals(Body)) counts.right += 1;
  });
  return counts;
}
