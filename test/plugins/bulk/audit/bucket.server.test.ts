import { createServer, type ServerResponse } from 'node:http';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { BucketReport } from '../../../../src/plugins/bulk/audit/report.ts';
import { launch } from '../../../support/child.ts';
import { cleanEnv } from '../../../support/clean-env.ts';
import { listen } from '../../../support/loopback.ts';
import { startMinio } from '../../../support/minio.ts';
import { s3Client } from '../../../support/object-store.ts';
import { startOpenBao } from '../../../support/openbao.ts';
import { peakUntilEnd } from '../../../support/process-memory.ts';
import { repetitions, storeKinds } from '../../../support/repetitions.ts';
import { startSvcProxy } from '../../../support/svc-proxy.ts';
import type { ObjectStore, OpenBao } from '../../../support/types.ts';
import { startVersityGw } from '../../../support/versitygw.ts';
import { runAudit } from '../../audit/run-audit.ts';

export const timeout = 240_000;
const Bucket = 'audited';
const part = Buffer.alloc(5 * 1024 * 1024, 'x');
const odd = 'odd/ä b+c%20&<"\'>~';
let bao: OpenBao;

const shared = suite('svc audit of a bucket');
shared.before(async () => {
  bao = await startOpenBao();
  await bao.enableTransit();
});
shared.after(() => bao?.stop());

const environment = (store: ObjectStore) => ({
  SVC_PROXY_UPSTREAM: store.endpoint,
  AWS_REGION: store.region,
  AWS_ACCESS_KEY_ID: store.accessKeyId,
  AWS_SECRET_ACCESS_KEY: store.secretAccessKey,
});

async function report(store: ObjectStore, args: readonly string[], status = 0): Promise<BucketReport> {
  const ran = await runAudit(['--bucket', Bucket, '--json', ...args], environment(store));
  assert.is(ran.status, status, ran.stderr);
  return JSON.parse(ran.stdout);
}

for (const start of [startVersityGw, startMinio].slice(0, storeKinds.length)) {
  shared(`tells apart what went through the proxy and around it (${start.name.slice(5)})`, async () => {
    const store = await start();
    try {
      await store.createBucket(Bucket);
      await fill(store);
      const { tally, outcome } = await report(store, ['--fail-on', 'error'], 1);
      const { objects, encrypted, plaintext, unreadable, helpers } = tally;
      assert.equal(
        { objects, encrypted, plaintext, unreadable },
        {
          ...{ objects: 9, encrypted: 6, plaintext: 2, unreadable: 1 },
        },
      );
      assert.is(tally.vanished, 0);
      assert.ok(helpers > 0, 'the manifest of the multipart object');
      assert.equal(Object.values(tally.keyVersions).sort(), [2, 4]);
      assert.equal(tally.forms, { single: 5, pointer: 1 });
      assert.equal(tally.plaintextKeys, [odd, 'plain'].sort());
      assert.equal(tally.unreadableKeys, ['half']);
      assert.match(outcome.reasons.join(), /3 errors/);
      const within = await report(store, ['--prefix', 'some/', '--fail-on', 'warning']);
      assert.is(within.tally.objects, 3);
      await formats(store);
    } finally {
      await store.stop();
    }
  });
}

async function fill(store: ObjectStore): Promise<void> {
  const direct = await s3Client(store);
  const vault = { addr: bao.url, token: await bao.policyToken() };
  const proxy = await startSvcProxy({ upstream: store, vault, args: ['--inline-limit', '0'] });
  const through = await s3Client(proxy.target);
  const put = (client: S3Client, Key: string, more = {}) =>
    client.send(new PutObjectCommand({ Bucket, Key, Body: 'hello', ...more }));
  try {
    for (const key of ['some/a', 'some/b', 'some/c']) await put(through, key);
    await multipart(through, 'large');
    await bao.rotate();
    await put(through, 'newer');
    await put(through, 'empty', { Body: '' });
    await put(direct, 'plain');
    await put(direct, odd);
    await put(direct, 'half', { Metadata: { 'svc-encrypted': 'true' } });
  } finally {
    direct.destroy();
    through.destroy();
    await proxy.stop();
  }
}

async function multipart(s3: S3Client, Key: string): Promise<void> {
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  const { ETag } = await s3.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: part }));
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag }] };
  await s3.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload }));
}

async function formats(store: ObjectStore): Promise<void> {
  const run = (...args: string[]) =>
    runAudit(['--bucket', Bucket, '--fail-on', 'error', ...args], environment(store));
  const table = await run();
  assert.is(table.status, 1);
  assert.match(table.stdout, /^ciphertext +6 +66\.7 %$/m);
  assert.match(table.stdout, /^ {2}key svc v\d +2 /m);
  assert.ok(table.stdout.split('\n').every((line) => line.length <= 100));
  const listed = await run('--list', '1', '-o', 'sarif');
  assert.is(listed.status, 1);
  const ids = JSON.parse(listed.stdout).runs[0].results.map(({ ruleId }: { ruleId: string }) => ruleId);
  assert.equal(ids, ['plaintext-object', 'plaintext-object', 'unreadable-metadata']);
  const missing = await runAudit(['--bucket', 'no-such-bucket'], environment(store));
  assert.is(missing.status, 4);
  assert.match(missing.stderr, /AUDIT_NO_BUCKET/);
  const denied = await runAudit(['--bucket', Bucket], {
    ...environment(store),
    AWS_SECRET_ACCESS_KEY: 'wrong-secret',
  });
  assert.is(denied.status, 4);
  assert.match(denied.stderr, /s3:ListBucket/);
  assert.not.match(denied.stderr, /wrong-secret/);
}

shared('a key that the store lists otherwise than it takes it is not passed over', async () => {
  const store = await startVersityGw();
  const s3 = await s3Client(store);
  try {
    await store.createBucket(Bucket);
    await s3.send(new PutObjectCommand({ Bucket, Key: 'a\u0001b', Body: 'hello' }));
    const { tally } = await report(store, ['--fail-on', 'error'], 1);
    assert.is(tally.vanished, 0);
    assert.equal(tally.errors, { 'metadata-refused': 1 });
  } finally {
    s3.destroy();
    await store.stop();
  }
});

const many = repetitions(200_000, 1_000_000);

shared(`${many} objects take bounded memory`, async () => {
  const server = await listingServer(many);
  const args = ['audit', '--bucket', Bucket, '--sample', '500', '--json'];
  const child = await launch(process.execPath, ['bin/run.js', ...args], {
    env: cleanEnv({
      ...{
        SVC_PROXY_UPSTREAM: server.url,
        AWS_REGION: 'x1',
        AWS_ACCESS_KEY_ID: 'a',
        AWS_SECRET_ACCESS_KEY: 'b',
      },
    }),
  });
  let peak = 0;
  try {
    peak = await peakUntilEnd(child);
    assert.is((await child.exited).code, 0, child.logs());
  } finally {
    await server.stop();
  }
  const { sample, tally } = JSON.parse(child.logs()) as BucketReport;
  assert.is(sample?.listed, many);
  assert.is(tally.objects, 500);
  const { low = 0, high = 0 } = sample?.encrypted ?? {};
  // one interval in twenty leaves out the true half; five standard deviations leave it out in no lifetime
  assert.ok(Math.abs((low + high) / 2 - 0.5) < 0.12, `half are encrypted, not ${low} to ${high}`);
  assert.ok(peak > 0 && peak < 400 * 1024 * 1024, `${peak} bytes`);
});

/** Lists keys that count up, of which every second one is encrypted. */
async function listingServer(total: number) {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://x');
    if (request.method === 'HEAD') return head(Number(url.pathname.slice(-7)), response);
    const from = Number(url.searchParams.get('continuation-token') ?? 0);
    const keys = Array.from({ length: 1_000 }, (_, at) => `k${String(from + at).padStart(7, '0')}`);
    const next = from + keys.length;
    const more = next < total ? `<NextContinuationToken>${next}</NextContinuationToken>` : '';
    const contents = keys.map((key) => `<Contents><Key>${key}</Key><Size>100</Size></Contents>`).join('');
    response.end(
      `<ListBucketResult><IsTruncated>${more !== ''}</IsTruncated>${contents}${more}</ListBucketResult>`,
    );
  });
  return listen(server);
}

function head(number: number, response: ServerResponse): void {
  const encrypted = {
    'x-amz-meta-svc-encrypted': 'true',
    'x-amz-meta-svc-wrapped-dek': 'vault:v1:AAAA',
    'x-amz-meta-svc-algorithm': 'AES-256-GCM',
    'x-amz-meta-svc-key-name': 'svc',
    'x-amz-meta-svc-key-version': '1',
  };
  response.writeHead(200, { 'content-length': '100', ...(number % 2 === 0 ? encrypted : {}) }).end();
}

shared.run();
