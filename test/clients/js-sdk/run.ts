import type { S3Client } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import { s3Client } from '../../support/object-store.ts';
import type { ObjectStore } from '../../support/types.ts';
import { auditStore } from '../audit.ts';
import { type Bed, startBed } from '../bed.ts';
import { conditionTests } from './conditions.ts';
import { copyTests } from './copies.ts';
import { listingTests } from './listings.ts';
import { multipartTests } from './multipart.ts';
import { objectTests } from './objects.ts';
import { presignedTests } from './presigned.ts';
import { streamTests } from './streams.ts';

/** Drives the proxy in front of a store with the AWS SDK for JavaScript. */
export function runJsSdk(store: ObjectStore['kind']): void {
  const test = suite<{ bed: Bed; s3: S3Client }>(`AWS SDK for JavaScript, ${store}`);

  test.before(async (context) => {
    context.bed = await startBed({ store, versioning: true });
  });

  test.before.each(async (context) => {
    context.s3 = await s3Client(context.bed.proxy.target);
  });

  test.after.each(({ s3 }) => s3.destroy());

  test.after(async ({ bed }) => {
    await bed?.stop();
  });

  objectTests(test);
  streamTests(test);
  conditionTests(test);
  copyTests(test);
  listingTests(test);
  multipartTests(test);
  presignedTests(test);

  test('the store holds ciphertext only', ({ bed }) => auditStore(bed));

  test.run();
}
