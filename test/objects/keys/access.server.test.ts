import { randomBytes } from 'node:crypto';
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from '../../support/http.ts';
import { startRequestLog } from '../../support/request-log.ts';
import { type Rig, type RiggedProxy, startRig } from '../../support/rig.ts';
import type { RequestLog } from '../../support/types.ts';
import { waitFor } from '../../support/wait-for.ts';

const MiB = 1024 * 1024;
const body = randomBytes(2000);

const test = suite('what the proxy may do at the key server');
let rig: Rig;
/** On the way to the key server. */
let asked: RequestLog;

test.before(async () => {
  rig = await startRig();
  asked = await startRequestLog(rig.bao.url);
});
test.before.each(() => asked.clear());
test.after(async () => {
  await rig?.stop();
  await asked?.stop();
});

const at = (Key: string) => ({ Bucket: rig.bucket, Key });
const put = ({ s3 }: RiggedProxy, key: string) => s3.send(new PutObjectCommand({ ...at(key), Body: body }));
const ready = async ({ health }: RiggedProxy) => (await http(`${health}/readyz`)).status;

async function get({ s3 }: RiggedProxy, key: string): Promise<Buffer> {
  const { Body } = await s3.send(new GetObjectCommand(at(key)));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

async function uploadInParts({ s3 }: RiggedProxy, key: string, between = async () => {}): Promise<Buffer> {
  const bodies = [randomBytes(5 * MiB), randomBytes(99)];
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(at(key)));
  const Parts = [];
  for (const [index, Body] of bodies.entries()) {
    const PartNumber = index + 1;
    const { ETag } = await s3.send(new UploadPartCommand({ ...at(key), UploadId, PartNumber, Body }));
    Parts.push({ PartNumber, ETag: ETag ?? '' });
    await between();
  }
  const MultipartUpload = { Parts };
  await s3.send(new CompleteMultipartUploadCommand({ ...at(key), UploadId, MultipartUpload }));
  return Buffer.concat(bodies);
}

test('`update` on two paths is enough for everything, and nothing else is done', async () => {
  const token = await rig.bao.policyToken();
  const paths = ['transit/encrypt/svc', 'transit/decrypt/svc', 'transit/keys/svc', 'auth/token/renew-self'];
  const { json } = await rig.bao.request('POST', 'sys/capabilities', { token, paths });
  assert.equal(
    paths.map((path) => json.data[path]),
    [['update'], ['update'], ['deny'], ['deny']],
  );
  const proxy = await rig.proxy({ vault: { addr: asked.url, token } });
  await put(proxy, 'policy');
  assert.equal(await get(proxy, 'policy'), body);
  const parted = await uploadInParts(proxy, 'policy-parts');
  assert.ok((await get(proxy, 'policy-parts')).equals(parted));
  for (const key of ['policy', 'policy-parts'])
    await proxy.s3.send(new CopyObjectCommand({ ...at(`${key}-copy`), CopySource: `${rig.bucket}/${key}` }));
  assert.ok((await get(proxy, 'policy-parts-copy')).equals(parted));
  await proxy.s3.send(new DeleteObjectCommand(at('policy')));
  assert.equal(
    [...new Set(asked.requests.map(({ method, path, status }) => `${method} ${path} ${status}`))].sort(),
    [
      'GET /v1/auth/token/lookup-self 403',
      'POST /v1/transit/decrypt/svc 200',
      'POST /v1/transit/encrypt/svc 200',
    ],
  );
});

test('token: once revoked, 500 InternalError, not ready, nothing stored, and the token in no log', async () => {
  const token = await rig.bao.policyToken();
  const proxy = await rig.proxy({ vault: { addr: asked.url, token } });
  await put(proxy, 'kept');
  await rig.bao.revoke(token);
  for (const attempt of [() => put(proxy, 'kept'), () => put(proxy, 'never'), () => get(proxy, 'kept')]) {
    const error = await attempt().then(
      () => new Error('was served'),
      (refused) => refused,
    );
    assert.equal([error.$metadata?.httpStatusCode, error.name], [500, 'InternalError']);
  }
  await waitFor('unreadiness', async () => (await ready(proxy)) === 503);
  const never = rig.store.client.send(new HeadObjectCommand(at('never')));
  assert.is(
    await never.then(
      () => 'stored',
      ({ name }) => name,
    ),
    'NotFound',
  );
  assert.not.ok(proxy.output().includes(token));
  const other = await rig.proxy();
  assert.equal(await get(other, 'kept'), body);
});

test('kubernetes: tokens revoked in the middle of an upload in parts go unnoticed', async () => {
  const kubernetes = await rig.bao.enableKubernetesAuth({ mount: 'uploads' });
  const proxy = await rig.proxy({ vault: { addr: asked.url, kubernetes } });
  const login = /^\/v1\/auth\/uploads\/login$/;
  const revoked = async () => {
    await rig.bao.request('POST', 'sys/leases/revoke-prefix/auth/uploads/login');
  };
  const before = asked.matching('POST', login).length;
  const parted = await uploadInParts(proxy, 'revoked-parts', revoked);
  assert.is(asked.matching('POST', login).length, before + 2, 'one login for each revocation');
  assert.ok((await get(proxy, 'revoked-parts')).equals(parted));
  assert.is(await ready(proxy), 200);
});

test('kubernetes: many requests that meet a revoked token share one login', async () => {
  const kubernetes = await rig.bao.enableKubernetesAuth({ mount: 'shared' });
  const proxy = await rig.proxy({ vault: { addr: asked.url, kubernetes } });
  await put(proxy, 'shared');
  const before = kubernetes.reviews();
  await rig.bao.request('POST', 'sys/leases/revoke-prefix/auth/shared/login');
  const bodies = await Promise.all(Array.from({ length: 16 }, () => get(proxy, 'shared')));
  assert.ok(bodies.every((one) => one.equals(body)));
  assert.is(kubernetes.reviews(), before + 1);
});

test.run();
