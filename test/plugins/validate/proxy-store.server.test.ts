import { ListObjectVersionsCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Rig, type RiggedProxy, startRig } from '../../support/rig.ts';
import { reportOf, runValidate, statesOf } from './run-validate.ts';

const test = suite('svc validate against a store and the proxy before it');
let rig: Rig;
let proxy: RiggedProxy;

test.before(async () => {
  rig = await startRig({ versioning: true });
  await rig.store.createBucket('versions', { versioning: true });
  proxy = await rig.proxy();
});

test.after(async () => rig?.stop());

const area = ['proxy-store'] as const;

const variables = (more: Readonly<Record<string, string>> = {}) => ({
  AWS_ACCESS_KEY_ID: rig.store.accessKeyId,
  AWS_SECRET_ACCESS_KEY: rig.store.secretAccessKey,
  AWS_REGION: rig.store.region,
  SVC_PROXY_UPSTREAM: rig.store.endpoint,
  SVC_VALIDATE_BUCKET: 'versions',
  SVC_VALIDATE_PROXY: proxy.url,
  VAULT_ADDR: rig.bao.url,
  VAULT_TOKEN: rig.token,
  ...more,
});

async function left(bucket: string): Promise<readonly (string | undefined)[]> {
  const { Versions = [], DeleteMarkers = [] } = await rig.store.client.send(
    new ListObjectVersionsCommand({ Bucket: bucket }),
  );
  return [...Versions, ...DeleteMarkers].map(({ Key }) => Key);
}

test('a canary object is ciphertext at the store, comes back, and leaves nothing behind', async () => {
  const run = await runValidate({ area }, variables());
  assert.is(run.status, 0, run.stdout);
  const states = statesOf(run);
  for (const id of ['SVC-STORE-001', 'SVC-STORE-002', 'SVC-STORE-003', 'SVC-STORE-004'])
    assert.is(states[id], 'passed', `${id} ${run.stdout}`);
  assert.equal(await left('versions'), []);
});

test('without a proxy that runs, one in this process does the same', async () => {
  const run = await runValidate({ area }, variables({ SVC_VALIDATE_PROXY: '' }));
  assert.is(run.status, 0, run.stdout);
  assert.is(statesOf(run)['SVC-STORE-002'], 'passed');
  assert.equal(await left('versions'), []);
});

test('what is not the proxy is found out, and the object removed', async () => {
  const plain = variables({
    SVC_VALIDATE_PROXY: rig.store.endpoint,
    SVC_PROXY_ACCESS_KEY_ID: rig.store.accessKeyId,
    SVC_PROXY_SECRET_ACCESS_KEY: rig.store.secretAccessKey,
  });
  const run = await runValidate({ area }, plain);
  assert.is(run.status, 1);
  assert.match(reportOf(run, 'SVC-STORE-002').findings[0]?.message ?? '', /plaintext/);
  assert.equal(await left('versions'), []);
});

test('a proxy that cannot reach its key server is found', async () => {
  await rig.bao.seal();
  try {
    const run = await runValidate({ area }, variables());
    assert.is(run.status, 1);
    assert.match(reportOf(run, 'SVC-STORE-002').findings[0]?.message ?? '', /did not take it: 503/);
    assert.is(statesOf(run)['SVC-STORE-003'], 'skipped');
    assert.equal(await left('versions'), []);
  } finally {
    await rig.bao.unseal();
  }
});

test('a bucket without versions is told of, and one that is not there', async () => {
  const run = await runValidate({ area }, variables({ SVC_VALIDATE_BUCKET: rig.bucket }));
  assert.is(run.status, 0, run.stdout);
  assert.is(reportOf(run, 'SVC-STORE-004').findings[0]?.level, 'info');
  const absent = await runValidate({ area }, variables({ SVC_VALIDATE_BUCKET: 'absent' }));
  assert.is(absent.status, 1);
  assert.is(statesOf(absent)['SVC-STORE-001'], 'failed');
});

test('credentials that the store refuses are no verdict on it', async () => {
  const run = await runValidate({ area }, variables({ AWS_SECRET_ACCESS_KEY: 'planted-wrong-secret' }));
  assert.is(statesOf(run)['SVC-STORE-001'], 'not-evaluated');
  assert.is(reportOf(run, 'SVC-STORE-001').permission, 's3:ListBucket');
  assert.is(run.status, 4, run.stdout);
  assert.not.match(run.stdout, /planted-wrong-secret/);
  assert.equal(await left('versions'), []);
});

test.run();
