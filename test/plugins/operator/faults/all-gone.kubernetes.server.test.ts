import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { waitFor } from '../../../support/wait-for.ts';
import { createAdmissionClient, optedIn, pod } from './support/admissions.ts';
import { admits, startBed } from './support/bed.ts';

const test = suite('all replicas are gone');
export const timeout = 240_000;

let bed: Awaited<ReturnType<typeof startBed>>;
let protectedNamespace: string;

test.before(async () => {
  bed = await startBed({ replicas: 2 });
  protectedNamespace = await bed.kubernetes.createNamespace();
  const spec = {
    selector: { matchLabels: { app: 'shop' } },
    vault: { role: 'app' },
    secretPaths: ['secret/app'],
  };
  await bed.kubernetes.apply({
    ...{ apiVersion: 'svc.io/v1alpha1', kind: 'ServiceConfig', spec },
    metadata: { name: 'shop', namespace: protectedNamespace },
  });
  await waitFor('the label of the namespace', async () => {
    const { metadata } = await bed.kubernetes.must('GET', `/api/v1/namespaces/${protectedNamespace}`);
    return metadata.labels['svc/protected'] === 'true';
  });
  await bed.kubernetes.apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'kube-system' } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'svc-system' } },
  );
  await Promise.all(bed.replicas.map((replica) => replica.end('SIGKILL')));
});

test.after(() => bed?.stop());

async function create(namespace: string, body: object) {
  const client = createAdmissionClient(bed.kubernetes, namespace);
  return client.admit(body).finally(client.close);
}

/** The API server has heard that nobody answers. */
async function refused(namespace: string, body: object): Promise<string> {
  return waitFor('a refusal by the API server', async () => {
    const { status, message } = await create(namespace, body);
    assert.is(status, 500);
    return /no endpoints available/.test(message) && message;
  });
}

test('a pod that asks for protection is refused, and the message names what is away', async () => {
  const message = await refused(bed.namespace, optedIn());
  console.log(message);
  assert.match(message, /annotated\.svc\.io/);
  assert.match(message, /no endpoints available for service "svc-operator"/);
});

test('every pod of a protected namespace is refused, annotated or not', async () => {
  assert.match(await refused(protectedNamespace, pod()), /namespace\.svc\.io.*svc-operator/);
  assert.match(await refused(protectedNamespace, optedIn()), /annotated\.svc\.io.*svc-operator/);
});

test('every other pod starts', async () => {
  assert.is((await create(bed.namespace, pod())).status, 201);
  assert.is((await create(bed.namespace, pod({ 'example.com/svc': 'true' }))).status, 201);
});

test('neither the cluster’s own pods nor the operator’s are ever blocked', async () => {
  for (const namespace of ['kube-system', 'svc-system']) {
    await bed.kubernetes.must('PATCH', `/api/v1/namespaces/${namespace}`, {
      metadata: { labels: { 'svc/protected': 'true' } },
    });
    for (const body of [pod(), optedIn()]) assert.is((await create(namespace, body)).status, 201);
  }
});

test('a replica that comes back finds everything, and admits', async () => {
  await bed.add();
  await admits(bed.kubernetes, bed.namespace);
  assert.is((await create(protectedNamespace, pod())).status, 201);
});

test.run();
