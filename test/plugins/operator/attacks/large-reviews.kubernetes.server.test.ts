import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createMemoryCgroup, type MemoryCgroup } from '../../../support/limit-cgroup.ts';
import {
  type OperatorCluster,
  type Replica,
  startOperatorCluster,
} from '../../../support/operator-cluster.ts';
import { createAdmissionClient } from '../faults/support/admissions.ts';
import { admits } from '../faults/support/bed.ts';
import { usualPod, worstPods } from '../webhook/support/worst-pods.ts';

const test = suite('the largest reviews that an API server sends, in 128 MiB');
export const timeout = 240_000;
const MiB = 1024 * 1024;

let cluster: OperatorCluster;
let cgroup: MemoryCgroup;
let _operator: Replica;
let namespace: string;
/** The webhook's own authority. */
let _ca: string;

test.before(async () => {
  cgroup = createMemoryCgroup(128 * MiB);
  cluster = await startOperatorCluster({
    values: { operator: { vaultAddress: 'https://vault.example:8200' } },
    replicas: 0,
  });
  _operator = await cluster.add({ memory: cgroup, inside: true, env: { MALLOC_ARENA_MAX: '1' } });
  namespace = await cluster.kubernetes.createNamespace();
  await admits(cluster.kubernetes, namespace);
  const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/svc-operator';
  const { webhooks } = await cluster.kubernetes.must('GET', path);
  _ca = Buffer.from(webhooks[0].clientConfig.caBundle, 'base64').toString();
});
test.after(async () => {
  await cluster?.stop();
  await cgroup?.remove();
});

/** Characters of a refusal: 50 errors, and names of 100 characters. */
const shortMessage = 20_000;

test('through the API server: a dry run of 1 MB is refused, with the reason', async () => {
  const path = `/api/v1/namespaces/${namespace}/pods?dryRun=All`;
  const { status, text } = await cluster.kubernetes.request(
    'POST',
    path,
    worstPods['references that are never closed']?.(1_000_000),
  );
  assert.is(status, 403, text.slice(0, 500));
  assert.match(text, /should have at most 262144 characters/);
  const names = worstPods['long names of containers, and 500 unknown ones']?.(1_000_000);
  const refused = await cluster.kubernetes.request('POST', path, names);
  assert.is(refused.status, 403, refused.text.slice(0, 500));
  assert.match(refused.text, /name: should be text of at most 253 characters/);
  assert.ok(refused.text.length < shortMessage, `${refused.text.length} characters`);
  const client = createAdmissionClient(cluster.kubernetes, namespace);
  assert.ok((await client.admit()).injected);
  client.close();
  assert.is(cgroup.killed(), 0);
});

test('through the API server: a large pod that asks for nothing is made, in a protected namespace, too', async () => {
  const labelled = await cluster.kubernetes.createNamespace({ 'svc/protected': 'true' });
  const args = Array(150_000).fill('a');
  const { status, text } = await cluster.kubernetes.request('POST', `/api/v1/namespaces/${labelled}/pods`, {
    ...usualPod,
    spec: { containers: [{ ...usualPod.spec.containers[0], args }] },
  });
  assert.is(status, 201, text.slice(0, 500));
});

test.run();
