import { execFile } from 'node:child_process';
import { basename, dirname, relative } from 'node:path';
import {
  type _Object,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  PutObjectCommand,
  paginateListObjectsV2,
  type S3Client,
} from '@aws-sdk/client-s3';
import * as assert from 'uvu/assert';
import { type Bed, BUCKET } from './bed.ts';

const CONTROL = 'control-in-plaintext';

/**
 * Looks at the store past the proxy: no file of it holds plaintext, every object carries the svc metadata, its
 * size is plaintext and 28 bytes a part (nothing for an empty one whose key ends in a slash), and the proxy shows neither helper objects nor other keys.
 */
export async function auditStore(bed: Bed): Promise<void> {
  await assertCiphertext(bed);
  const stored = await list(bed.store.client);
  const shown = await list(bed.client);
  assert.equal(
    [...shown.keys()].sort(),
    [...stored.keys()].filter((key) => !key.startsWith('.svc/')).sort(),
    'the proxy lists other keys than the store holds',
  );
  for (const [key, object] of shown) await assertSealed(bed, key, object);
}

/** The search finds the control object, so that it would find others. */
async function assertCiphertext({ store, marker }: Bed): Promise<void> {
  await store.client.send(
    new PutObjectCommand({ Bucket: BUCKET, Key: CONTROL, Body: `${marker} in plaintext` }),
  );
  const own = dirname(store.dataDir);
  const folders = (await filesWith(marker, own)).map((path) => path.split('/').slice(0, 3));
  assert.equal(folders, [[basename(store.dataDir), BUCKET, CONTROL]], 'plaintext lies in the store');
}

function filesWith(text: string, folder: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    execFile('grep', ['-r', '-l', '-a', '-F', '-e', text, folder], (error, stdout) => {
      if (error && error.code !== 1) return reject(error);
      const lines = stdout.split('\n').filter((line) => line !== '');
      resolve(lines.map((line) => relative(folder, line)));
    });
  });
}

/** All objects by key. */
export async function list(client: S3Client, prefix = ''): Promise<Map<string, _Object>> {
  const found = new Map<string, _Object>();
  for await (const page of paginateListObjectsV2({ client }, { Bucket: BUCKET, Prefix: prefix })) {
    for (const object of page.Contents ?? []) found.set(object.Key ?? '', object);
  }
  return found;
}

async function assertSealed(bed: Bed, key: string, shown: _Object): Promise<void> {
  if (key === CONTROL) return;
  const raw = await stored(bed, key);
  const { 'svc-wrapped-dek': wrapped = '', ...metadata } = raw.Metadata ?? {};
  assert.is(metadata['svc-encrypted'], 'true', key);
  assert.is(metadata['svc-algorithm'], 'AES-256-GCM', key);
  assert.is(metadata['svc-key-name'], 'svc', key);
  assert.match(metadata['svc-key-version'] ?? '', /^[1-9]\d*$/, key);
  assert.match(wrapped, /vault:v\d+:/, key);
  assert.is(raw.ContentEncoding?.includes('aws-chunked') ?? false, false, key);
  const parts = wrapped.startsWith('vault:') ? 1 : partsOf(raw.ETag ?? '', wrapped);
  const folder = key.endsWith('/') && shown.Size === 0;
  assert.is(metadata['svc-empty-seal'] !== undefined, folder, key);
  assert.is(raw.ContentLength, folder ? 0 : (shown.Size ?? 0) + 28 * parts, `${key}: ${parts} parts`);
}

/** From the ETag, or from the inline array where a self-copy gave the object another one. */
function partsOf(etag: string, wrapped: string): number {
  const { parts } = JSON.parse(wrapped) as { parts?: unknown[] };
  return parts?.length ?? Number(/-(\d+)"?$/.exec(etag)?.[1]);
}

/** An object's headers as the store has them. */
export function stored({ store }: Bed, key: string): Promise<HeadObjectCommandOutput> {
  return store.client.send(new HeadObjectCommand({ Bucket: BUCKET, Key: key }));
}

/** Keys that lie in the store under the proxy's own prefix. */
export async function helperKeys({ store }: Bed): Promise<string[]> {
  return [...(await list(store.client, '.svc/')).keys()];
}
