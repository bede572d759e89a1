import { setTimeout } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from '../../../support/http.ts';
import { createMemoryCgroup, type MemoryCgroup } from '../../../support/limit-cgroup.ts';
import {
  type OperatorCluster,
  type Replica,
  startOperatorCluster,
} from '../../../support/operator-cluster.ts';
import { patient } from '../../../support/patience.ts';
import { createAdmissionClient } from '../faults/support/admissions.ts';
import { admits } from '../faults/support/bed.ts';
import { reviewOf } from '../webhook/support/review-of.ts';
import { largestPod, nestedReview, usualPod, worstPods } from '../webhook/support/worst-pods.ts';

const test = suite('the largest reviews that an API server sends, in 128 MiB');
export const timeout = 240_000;
const MiB = 1024 * 1024;

let cluster: OperatorCluster;
let cgroup: MemoryCgroup;
let operator: Replica;
let namespace: string;
/** The webhook's own authority. */
let ca: string;

test.before(async () => {
  cgroup = createMemoryCgroup(128 * MiB);
  cluster = await startOperatorCluster({
    values: { operator: { vaultAddress: 'https://vault.example:8200' } },
    replicas: 0,
  });
  operator = await cluster.add({ memory: cgroup, inside: true, env: { MALLOC_ARENA_MAX: '1' } });
  namespace = await cluster.kubernetes.createNamespace();
  await admits(cluster.kubernetes, namespace);
  const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/svc-operator';
  const { webhooks } = await cluster.kubernetes.must('GET', path);
  ca = Buffer.from(webhooks[0].clientConfig.caBundle, 'base64').toString();
});
test.after(async () => {
  await cluster?.stop();
  await cgroup?.remove();
});

/** Its answer by HTTP, whatever it is. */
async function post(body: string): Promise<{ status: number; text: string; ms: number }> {
  const began = performance.now();
  const headers = { host: 'svc-operator.svc-system.svc' };
  const { status, text } = await http(`https://${operator.started['webhook']}/mutate?timeout=10s`, {
    ...{ method: 'POST', body, ca, headers },
  });
  return { status, text, ms: performance.now() - began };
}

const review = (pod: object): string => JSON.stringify(reviewOf(pod, { namespace }));

/** Asks for a usual pod all the while. @returns what the slowest took, in ms */
async function askedMeanwhile(work: Promise<unknown>): Promise<number> {
  let busy = true;
  void work.finally(() => {
    busy = false;
  });
  let slowest = 0;
  while (busy) {
    const { status, ms } = await post(review(usualPod));
    assert.is(status, 200);
    slowest = Math.max(slowest, ms);
    await setTimeout(20);
  }
  await work;
  return slowest;
}

/** Characters of a refusal: 50 errors, and names of 100 characters. */
const shortMessage = 20_000;
const generousMs = () => patient(5_000);

for (const [name, make] of Object.entries(worstPods)) {
  test(`${name}: one is answered, and so are others meanwhile`, async () => {
    let answer = { status: 0, text: '', ms: 0 };
    const slowest = await askedMeanwhile(
      post(review(make(largestPod))).then((one) => {
        answer = one;
      }),
    );
    assert.is(answer.status, 200);
    if (answer.text.includes('"allowed":false')) assert.ok(answer.text.length < shortMessage, answer.text);
    assert.ok(slowest < generousMs(), `${slowest} ms`);
    assert.is(cgroup.killed(), 0);
  });
}

test('all of them at once, twice, and texts that are nested without end', async () => {
  const bodies = Object.values(worstPods).map((make) => review(make(largestPod)));
  const all = [...bodies, ...bodies, nestedReview(largestPod)].map((body) => post(body));
  const slowest = await askedMeanwhile(Promise.all(all));
  const statuses = (await Promise.all(all)).map(({ status }) => status);
  assert.ok(
    statuses.every((status) => [200, 400, 503].includes(status)),
    statuses.join(),
  );
  assert.ok(slowest < generousMs(), `${slowest} ms`);
  assert.is(cgroup.killed(), 0);
});

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

const stored: Readonly<Record<string, object>> = {
  'empty arguments': { args: Array(600_000).fill('') },
  // six characters of JSON each
  'text that JSON escapes': { args: Array(14).fill('<'.repeat(100_000)) },
};

test('pods as large as etcd takes do not keep an operator from starting', async () => {
  const { kubernetes } = cluster;
  const other = await kubernetes.createNamespace();
  for (const more of Object.values(stored)) {
    const containers = [{ ...usualPod.spec.containers[0], ...more }];
    const { status, text } = await kubernetes.request('POST', `/api/v1/namespaces/${other}/pods`, {
      ...usualPod,
      spec: { containers },
    });
    assert.is(status, 201, text.slice(0, 500));
  }
  await operator.end('SIGTERM');
  operator = await cluster.add({ memory: cgroup, inside: true, env: { MALLOC_ARENA_MAX: '1' } });
  await admits(kubernetes, namespace);
  assert.is(cgroup.killed(), 0);
  assert.equal(operator.events('kube.watch.failed'), []);
});

const short = (count: number, from: number) =>
  Array.from({ length: count }, (_, index) => `a${from.toString(36)}.${index.toString(36)}`);
const empty = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, '']));

/** Objects of which a hundred of a kind once ended the operator; each is within the bounds of one object. */
const many: Readonly<Record<string, (number: number) => object>> = {
  'api/v1/pods': (number) => ({
    metadata: { labels: empty(short(5_000, number)) },
    spec: {
      containers: [
        { name: 'app', image: 'app:1', env: short(3_000, number).map((name) => ({ name: `_${name}` })) },
      ],
    },
  }),
  'apis/networking.k8s.io/v1/networkpolicies': () => ({
    spec: {
      ...{ podSelector: {}, policyTypes: ['Egress'] },
      egress: Array(5_300).fill({ to: [{ podSelector: {} }] }),
    },
  }),
  'apis/svc.io/v1alpha1/secretmappings': (number) => ({
    ...{ apiVersion: 'svc.io/v1alpha1', kind: 'SecretMapping' },
    spec: {
      secrets: Array.from({ length: 32 }, (_, index) => ({
        path: `secret/${index}`,
        variables: Object.fromEntries(
          Array.from({ length: 64 }, (_, at) => [`${number}-${at}-${'a'.repeat(230)}`, `V${at}`]),
        ),
      })),
    },
  }),
};

test('nor does a namespace full of objects end it, and each of them that is not kept fails closed', async () => {
  const { kubernetes } = cluster;
  const full = await kubernetes.createNamespace();
  for (const [path, make] of Object.entries(many)) {
    const [, base, plural] = /^(.*)\/(\w+)$/.exec(path) ?? [];
    const numbers = Array.from({ length: 100 }, (_, number) => number);
    const next = numbers[Symbol.iterator]();
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (const number of next) {
          const object = make(number) as { metadata?: object };
          await kubernetes.must('POST', `/${base}/namespaces/${full}/${plural}`, {
            ...object,
            metadata: { ...object.metadata, name: `full-${number}` },
          });
        }
      }),
    );
  }
  await admits(kubernetes, namespace);
  assert.is(cgroup.killed(), 0);
  await operator.end('SIGTERM');
  operator = await cluster.add({ memory: cgroup, inside: true, env: { MALLOC_ARENA_MAX: '1' } });
  await admits(kubernetes, namespace);
  assert.is(cgroup.killed(), 0);
  const resources = new Set(operator.events('cluster.object.too_large').map(({ resource }) => resource));
  assert.equal([...resources].sort(), ['networkpolicies', 'pods', 'secretmappings']);
  const names = Array.from({ length: 32 }, (_, at) => `full-${at}`).join();
  const annotations = { 'svc/inject': 'true', 'svc/vault-role': 'app', 'svc/secret-mapping': names };
  const asked = { ...usualPod, metadata: { name: 'asks', annotations } };
  const { status, text } = await kubernetes.request('POST', `/api/v1/namespaces/${full}/pods`, asked);
  assert.is(status, 403, text.slice(0, 500));
  assert.match(text, /SecretMapping full-\d+\): is too large for the operator to keep/);
});

test.run();
