import { randomBytes } from 'node:crypto';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { segmentBytes } from '../../../src/objects/format/segments.ts';
import { MiB } from '../../clients/bed.ts';
import { type MeddlingStore, startMeddlingStore } from '../../support/meddling-store.ts';
import { s3Client } from '../../support/object-store.ts';
import { startOpenBao } from '../../support/openbao.ts';
import { startSvcProxy } from '../../support/svc-proxy.ts';
import type { ObjectStore, Stoppable } from '../../support/types.ts';
import { startVersityGw } from '../../support/versitygw.ts';

export const timeout = 240_000;

interface Context {
  store: ObjectStore;
  relay: MeddlingStore;
  client: S3Client;
  started: Stoppable[];
}

const test = suite<Context>('copies of parts by a store that lies, and by callers who repeat themselves');
const Bucket = 'box';
const stored = segmentBytes + 16;
const body = randomBytes(6 * MiB + 100);
const other = randomBytes(6 * MiB + 100);

test.before(async (context) => {
  const [bao, store] = await Promise.all([startOpenBao(), startVersityGw({ keepAlive: true })]);
  await Promise.all([bao.enableTransit(), store.createBucket(Bucket)]);
  const relay = await startMeddlingStore(store.endpoint);
  const vault = { addr: bao.url, token: await bao.policyToken() };
  const args = ['--format', '2', '--upstream-checksum', 'none'];
  const proxy = await startSvcProxy({ vault, upstream: { ...store, endpoint: relay.url }, args });
  const client = await s3Client(proxy.target);
  Object.assign(context, { store, relay, client, started: [proxy, relay, store, bao] });
  await client.send(new PutObjectCommand({ Bucket, Key: 'source', Body: body }));
});

test.after(async ({ client, started }) => {
  client?.destroy();
  for (const one of started ?? []) await one.stop();
});

const begin = async ({ client }: Context, Key: string) =>
  (await client.send(new CreateMultipartUploadCommand({ Bucket, Key }))).UploadId;

async function copy({ client }: Context, Key: string, UploadId: string | undefined, range?: string) {
  const at = { Bucket, Key, UploadId, PartNumber: 1, CopySource: `${Bucket}/source`, CopySourceRange: range };
  return (await client.send(new UploadPartCopyCommand(at))).CopyPartResult?.ETag;
}

async function completed({ client }: Context, Key: string, UploadId: string | undefined, ETag?: string) {
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
  await client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }));
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

test('a copy that is repeated is one copy, at once, one after the other, and over other bytes', async (context) => {
  const one = await begin(context, 'repeated');
  await copy(context, 'repeated', one);
  assert.ok((await completed(context, 'repeated', one, await copy(context, 'repeated', one))).equals(body));

  const atOnce = await begin(context, 'at-once');
  const [etag] = await Promise.all([1, 2].map(() => copy(context, 'at-once', atOnce)));
  assert.ok((await completed(context, 'at-once', atOnce, etag)).equals(body));

  const over = await begin(context, 'over');
  await copy(context, 'over', over);
  const part = { Bucket, Key: 'over', UploadId: over, PartNumber: 1, Body: other };
  await context.client.send(new UploadPartCommand(part));
  assert.ok((await completed(context, 'over', over, await copy(context, 'over', over))).equals(body));
});

test('a store that takes all in place of the range, or nothing, is found out before the part counts', async (context) => {
  const { relay, store } = context;
  const range = `bytes=0-${5 * MiB - 1}`;
  for (const lie of ['all', 'nothing'] as const) {
    const UploadId = await begin(context, lie);
    const at = { Bucket, Key: lie, UploadId, PartNumber: 1 };
    let lies = 0;
    relay.meddle({
      async before({ method, headers }) {
        if (method !== 'PUT' || headers['x-amz-copy-source'] === undefined) return undefined;
        lies += 1;
        const whole = new UploadPartCopyCommand({ ...at, CopySource: `${Bucket}/source` });
        const etag =
          lie === 'all'
            ? (await store.client.send(whole)).CopyPartResult?.ETag
            : (await store.client.send(new UploadPartCommand({ ...at, Body: Buffer.alloc(0) }))).ETag;
        const xml = `<?xml version="1.0"?><CopyPartResult><ETag>${etag}</ETag></CopyPartResult>`;
        return { status: 200, headers: { 'content-type': 'application/xml' }, body: Buffer.from(xml) };
      },
    });
    const etag = await copy(context, lie, UploadId, range);
    relay.meddle(undefined);
    assert.is(lies, 1);
    assert.ok((await completed(context, lie, UploadId, etag)).equals(body.subarray(0, 5 * MiB)), lie);
  }
});

test('other segments of the right length are refused by whoever reads them', async (context) => {
  const { relay, store } = context;
  const UploadId = await begin(context, 'shifted');
  const at = { Bucket, Key: 'shifted', UploadId, PartNumber: 1, CopySource: `${Bucket}/source` };
  relay.meddle({
    async before({ method, headers }) {
      if (method !== 'PUT' || headers['x-amz-copy-source'] === undefined) return undefined;
      const shifted = { ...at, CopySourceRange: `bytes=${stored}-${81 * stored - 1}` };
      const { CopyPartResult } = await store.client.send(new UploadPartCopyCommand(shifted));
      const xml = `<?xml version="1.0"?><CopyPartResult><ETag>${CopyPartResult?.ETag}</ETag></CopyPartResult>`;
      return { status: 200, headers: { 'content-type': 'application/xml' }, body: Buffer.from(xml) };
    },
  });
  const etag = await copy(context, 'shifted', UploadId, `bytes=0-${5 * MiB - 1}`);
  relay.meddle(undefined);
  await completed(context, 'shifted', UploadId, etag).then(
    () => assert.unreachable('it was read'),
    (error: Error & { $metadata?: { httpStatusCode?: number } }) =>
      assert.is(error.$metadata?.httpStatusCode, 500),
  );
});

test.run();
