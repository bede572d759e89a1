import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HeadObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { buildImage, type TestImage } from '../../../support/image.ts';
import type { ObjectStore } from '../../../support/types.ts';
import { startVersityGw } from '../../../support/versitygw.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { digestOf, toldIn } from './application.ts';
import { allowRole } from './key-server.ts';
import type { PodRun } from './kubelet/kubelet.ts';
import { app, asked, type PodText, post, run } from './pods.ts';
import { proxyImage, startWorld, type World } from './world.ts';

export const timeout = 300_000;
const test = suite('from custom resources to processes');
const SECRET = 'from-custom-resources';
const plaintext = 'what the object store must not see';

let world: World;
let store: ObjectStore;
let image: TestImage;
const pods: PodRun[] = [];

test.before(async () => {
  store = await startVersityGw();
  await store.createBucket('bucket');
  image = await buildImage('proxy');
  world = await startWorld({ ports: [store.port] });
  const { root, target } = image;
  world.images.set(proxyImage, { root, ...target, shared: true });
  await world.kv.put('app', { PASSWORD: SECRET, user: 'shop' });
  await world.kv.put('shared', { password: SECRET, host: 'db.example' });
  await world.bao.enableTransit('transit', 'team');
});

test.after.each(async () => {
  await Promise.all(pods.splice(0).map((pod) => pod.stop()));
});

test.after(async () => {
  await world?.stop();
  await image?.remove();
  await store?.stop();
});

async function start(text: PodText): Promise<PodRun> {
  const pod = await run(world, text);
  pods.push(pod);
  return pod;
}

async function toldBy(pod: PodRun) {
  const container = pod.container('app');
  const { code } = await container.exited;
  assert.is(code, 0, container.output());
  return toldIn(container.output());
}

/** Creates a custom resource and waits until the operator says that it is in force. */
async function make(namespace: string, kind: string, name: string, spec: object): Promise<void> {
  const path = `/apis/svc.io/v1alpha1/namespaces/${namespace}/${kind.toLowerCase()}s`;
  await world.kube.must('POST', path, { apiVersion: 'svc.io/v1alpha1', kind, metadata: { name }, spec });
  if (kind !== 'ServiceConfig') return;
  await waitFor(`${name} to be ready`, async () => {
    const { status } = await world.kube.must('GET', `${path}/${name}`);
    return status?.conditions?.some(
      (one: { type: string; status: string }) => one.type === 'Ready' && one.status === 'True',
    );
  });
}

const selector = { matchLabels: { app: 'shop' } };
const labels = { app: 'shop' };

test('a ServiceConfig and SecretMappings give their pods secrets; an annotation wins', async () => {
  const namespace = await world.namespace();
  await make(namespace, 'SecretMapping', 'database', {
    secrets: [{ path: 'secret/shared', variables: { password: 'PASSWORD', host: 'DB_HOST' } }],
  });
  await make(namespace, 'ServiceConfig', 'shop', {
    ...{ selector, vault: { role: 'app' }, secretMappings: ['database'], delivery: 'env' },
  });
  const selected = await toldBy(await start({ name: 'selected', namespace, labels, annotations: {} }));
  assert.is(selected.digest, digestOf(SECRET));
  assert.is(selected.child.get('DB_HOST'), 'db.example');
  assert.not.ok(selected.child.has('SVC_SECRET_FD'), 'delivery: env');
  const annotations = { 'svc/delivery': 'both' };
  const annotated = await toldBy(await start({ name: 'annotated', namespace, labels, annotations }));
  assert.is(annotated.digest, digestOf(SECRET));
  assert.match(annotated.child.get('SVC_SECRET_FD') ?? '', /^\d+$/);
});

test('an annotation names SecretMappings, and maps fields by itself', async () => {
  const namespace = await world.namespace();
  await make(namespace, 'SecretMapping', 'database', {
    secrets: [{ path: 'secret/shared', variables: { password: 'PASSWORD' } }],
  });
  const { 'svc/secret-paths': _, ...others } = asked;
  const byName = { ...others, 'svc/secret-mapping': 'database' };
  const told = await toldBy(await start({ name: 'named', namespace, annotations: byName }));
  assert.is(told.digest, digestOf(SECRET));
  assert.is(told.child.get('host'), 'db.example', 'a field that is not mapped keeps its name');
  const mapped = {
    ...asked,
    'svc/secret-paths': 'secret/shared,secret/app',
    'svc/env-map': 'host=DB;user=WHO',
  };
  const { child } = await toldBy(await start({ name: 'mapped', namespace, annotations: mapped }));
  assert.equal([child.get('DB'), child.get('WHO')], ['db.example', 'shop']);
});

const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

/** Puts an object at the address that the SDKs read, and gets it back. */
const client = `
put='printf "PUT /bucket/key HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: %s\\r\\n\\r\\n%s" "\${#BODY}" "$BODY"
  read -r status; echo "$status" >&2'
at=\${AWS_ENDPOINT_URL_S3#http://}
/bin/busybox nc "\${at%:*}" "\${at#*:}" -e /bin/busybox sh -c "$put"
echo "got $(/bin/busybox wget -q -O - "$AWS_ENDPOINT_URL_S3/bucket/key")"
`;

test('an application uses the proxy beside it, and the store holds ciphertext', async () => {
  const namespace = await world.namespace();
  const policy = await world.bao.transitPolicy({ key: 'team' });
  await allowRole(world.bao, 'store', namespace, [policy]);
  await world.kube.must('POST', `/api/v1/namespaces/${namespace}/secrets`, {
    metadata: { name: 's3-keys' },
    stringData: { AWS_ACCESS_KEY_ID: store.accessKeyId, AWS_SECRET_ACCESS_KEY: store.secretAccessKey },
  });
  await make(namespace, 'ServiceConfig', 'shop', {
    ...{ selector, vault: { role: 'app' }, secretPaths: ['secret/app'] },
    proxy: {
      ...{ enabled: true, role: 'store', upstream: store.endpoint },
      ...{ transitKey: 'team', credentialsSecret: 's3-keys' },
      ...{ format: 2, recoveryRecipients: [recipient] },
    },
  });
  const env = [
    { name: 'AWS_REGION', value: store.region },
    { name: 'BODY', value: plaintext },
  ];
  const container = app({ command: ['/bin/busybox', 'sh', '-c', client], env });
  const pod = await start({
    ...{ name: 'store', namespace, labels, annotations: {} },
    spec: { containers: [container] },
  });
  const run = pod.container('app');
  const { code } = await run.exited;
  const details = run.output() + pod.container('svc-proxy').output();
  assert.is(code, 0, details);
  assert.match(run.output(), /^HTTP\/1\.1 200/m, details);
  assert.match(run.output(), new RegExp(`^got ${plaintext}$`, 'm'), details);
  const stored = readFileSync(join(store.dataDir, 'bucket/key'), 'latin1');
  assert.ok(stored.length >= plaintext.length + 16);
  assert.not.ok(stored.includes(plaintext));
  const head = await store.client.send(new HeadObjectCommand({ Bucket: 'bucket', Key: 'key' }));
  assert.is(head.Metadata?.['svc-algorithm'], 'AES-256-GCM-STREAM-64KiB');
  assert.match(head.Metadata?.['svc-recovery'] ?? '', /^[\w-]{107}$/);
  await pod.end();
  assert.is((await pod.container('svc-proxy').exited).code, 0, 'the sidecar ends with the pod');
  assert.not.match(details, new RegExp(store.secretAccessKey));
});

test('an operator with envMapOnly delivers named fields alone, and refuses a pod that names none or wants all', async () => {
  const [former] = world.cluster.replicas;
  await world.cluster.add({ env: { SVC_OPERATOR_ENV_MAP_ONLY: 'true' } });
  await former?.end('SIGTERM');
  const namespace = await world.namespace();
  const named = { ...asked, 'svc/env-map': 'PASSWORD=PASSWORD' };
  const { digest, child } = await toldBy(await start({ name: 'named', namespace, annotations: named }));
  assert.equal([digest, child.has('user')], [digestOf(SECRET), false]);
  for (const [annotations, reason] of [
    [asked, /SVC_OPERATOR_ENV_MAP_ONLY: would deliver nothing/],
    [{ ...named, 'svc/env-map-only': 'false' }, /svc\/env-map-only: should be true or unset/],
  ] as const) {
    const { status, text } = await post(world, { name: 'refused', namespace, annotations });
    assert.is(status, 403, text);
    assert.match(text, reason);
  }
});

test.run();
