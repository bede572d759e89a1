import {
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  type S3Client,
} from '@aws-sdk/client-s3';
import { httpStatusOf } from './failure.ts';
import type { AuditStore, Head, ListedObject } from './store.ts';

/** A bucket through `@aws-sdk/client-s3`. */
export function s3AuditStore(client: S3Client, bucket: string, prefix: string): AuditStore {
  return {
    pages: (after, signal) => pages(client, bucket, prefix, after, signal),
    head: (key, signal) => head(client, bucket, key, signal),
    close: () => client.destroy(),
  };
}

async function* pages(
  client: S3Client,
  Bucket: string,
  Prefix: string,
  StartAfter: string | undefined,
  abortSignal: AbortSignal,
): AsyncGenerator<readonly ListedObject[]> {
  let token: string | undefined;
  do {
    const from = token === undefined ? { StartAfter } : { ContinuationToken: token };
    const command = new ListObjectsV2Command({ Bucket, Prefix, EncodingType: 'url', ...from });
    const page: ListObjectsV2CommandOutput = await client.send(command, { abortSignal });
    yield listed(page);
    token = nextOf(page, token);
  } while (token !== undefined);
}

/** @throws Error for a listing that would never end, or that ends without saying where it goes on */
function nextOf(page: ListObjectsV2CommandOutput, token: string | undefined): string | undefined {
  if (!page.IsTruncated) return undefined;
  const { NextContinuationToken: next } = page;
  if (next !== undefined && next !== token) return next;
  throw Object.assign(new Error('the listing does not go on'), { name: 'BrokenListing' });
}

function listed({ Contents = [], EncodingType }: ListObjectsV2CommandOutput): readonly ListedObject[] {
  const decoded = EncodingType === 'url' ? fromUrl : (key: string) => key;
  return Contents.flatMap(({ Key, Size = 0 }) =>
    Key === undefined ? [] : [{ key: decoded(Key), size: Size }],
  );
}

/** As a form is encoded: a blank is a plus. */
function fromUrl(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

async function head(client: S3Client, Bucket: string, Key: string, abortSignal: AbortSignal): Promise<Head> {
  try {
    const { Metadata = {} } = await client.send(new HeadObjectCommand({ Bucket, Key }), { abortSignal });
    const headers = Object.entries(Metadata).map(([name, value]) => [
      `x-amz-meta-${name.toLowerCase()}`,
      value,
    ]);
    return { found: true, headers: Object.fromEntries(headers) };
  } catch (error) {
    const status = httpStatusOf(error);
    if (status === 404)
      return (await isListed(client, Bucket, Key, abortSignal))
        ? { found: 'refused', status }
        : { found: false };
    if (status === 400 || status === 405) return { found: 'refused', status };
    throw error;
  }
}

/** Stands for what could not be written in a listing. */
const replacement = '\uFFFD';

/** Some stores list a key otherwise than they take it: such an object is there, and nobody can say what it is. */
async function isListed(
  client: S3Client,
  Bucket: string,
  key: string,
  abortSignal: AbortSignal,
): Promise<boolean> {
  if (key.includes(replacement)) return true;
  const command = new ListObjectsV2Command({ Bucket, Prefix: key, EncodingType: 'url', MaxKeys: 1 });
  return listed(await client.send(command, { abortSignal })).some((one) => one.key === key);
}
