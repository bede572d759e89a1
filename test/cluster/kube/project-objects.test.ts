import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { refusalsOf } from '../../../src/cluster/injection/resolve/resolve-injection.ts';
import { KeptRoom } from '../../../src/cluster/kube/kept-room.ts';
import { createStore } from '../../../src/cluster/kube/object-store.ts';
import {
  createIntern,
  type PodObject,
  type PolicyObject,
  projectPod,
  projectPolicy,
} from '../../../src/cluster/kube/project-objects.ts';
import { roomWithin } from '../../../src/plugins/operator/cluster-room.ts';
import { collectGarbage } from '../../support/collect-garbage.ts';

const test = suite('projected pods');

/** As the API server tells it of a usual pod: some 7 KB of JSON. */
function podJson(workload: number, replica: number, extra: object = {}): string {
  const id = `${workload}-${replica}`;
  const suffix = (replica + 100_000).toString(36).padStart(5, 'x').slice(-5);
  const token = `kube-api-access-${suffix}`;
  const env = Array.from({ length: 20 }, (_, index) => ({
    name: `VARIABLE_${index}`,
    value: 'x'.repeat(40),
  }));
  const container = {
    ...{
      name: 'app',
      image: `registry.example/team/app-${workload}:1.2.3`,
      command: ['/svc/svc-wrapper'],
      env,
    },
    resources: { requests: { cpu: '100m', memory: '128Mi' } },
    livenessProbe: { httpGet: { path: '/healthz', port: 8081 } },
    volumeMounts: [
      { name: 'svc-wrapper', mountPath: '/svc', readOnly: true },
      { name: token, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true },
    ],
    securityContext: { runAsNonRoot: true, capabilities: { drop: ['ALL'] } },
  };
  return JSON.stringify({
    metadata: {
      ...{ name: `app-${id}`, namespace: `team-${workload % 20}`, uid: `uid-${id}`, resourceVersion: '1' },
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { app: `app-${workload}`, 'pod-template-hash': '5d8f', 'svc/protected': 'true' },
      annotations: { 'svc/vault-role': `app-${workload}`, 'cni.example/status': 'y'.repeat(400) },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: `app-${workload}-5d8f`,
          uid: 'u',
          controller: true,
        },
      ],
      managedFields: [
        { manager: 'kubelet', fieldsV1: { 'f:status': { 'f:conditions': 'z'.repeat(1_500) } } },
      ],
      ...extra,
    },
    spec: {
      ...{ containers: [container, { ...container, name: 'second' }], nodeName: `node-${replica}` },
      ...{ serviceAccountName: 'app', restartPolicy: 'Always', tolerations: [{ key: 'a' }, { key: 'b' }] },
      volumes: [
        { name: 'svc-wrapper', emptyDir: { medium: 'Memory' } },
        { name: token, projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } },
      ],
    },
    status: {
      phase: 'Running',
      podIP: '10.0.0.1',
      conditions: [{ type: 'Ready', message: 'w'.repeat(300) }],
    },
  });
}

const project = (json: string, intern = createIntern()) => projectPod(JSON.parse(json) as PodObject, intern);

test('pods of one workload share what is the same in them', () => {
  const intern = createIntern();
  const [one, other] = [project(podJson(1, 1), intern), project(podJson(1, 2), intern)];
  assert.is(one.pod.spec.containers, other.pod.spec.containers);
  assert.is(one.pod.spec.volumes, other.pod.spec.volumes);
  assert.is(one.pod.metadata.labels, other.pod.metadata.labels);
  assert.is(one.pod.metadata.annotations, other.pod.metadata.annotations);
  assert.is.not(one.pod.spec.nodeName, other.pod.spec.nodeName);
  assert.is(one.pod.spec.containers[0]?.volumeMounts?.[1]?.name, one.pod.spec.volumes?.[1]?.name);
  const different = project(podJson(2, 1), intern);
  assert.is.not(one.pod.spec.containers, different.pod.spec.containers);
});

test('a static pod is known as one', () => {
  const pod = project(podJson(1, 1, { annotations: { 'kubernetes.io/config.mirror': 'x', other: 'y' } }));
  assert.is(refusalsOf(pod.pod).length, 1);
  assert.equal(Object.keys(pod.pod.metadata.annotations ?? {}), ['kubernetes.io/config.mirror']);
});

test('annotations are ours however their prefix is written', () => {
  const { pod } = project(podJson(1, 1, { annotations: { 'SVC/inject': 'true', 'svcs/inject': 'x' } }));
  assert.equal(pod.metadata.annotations, { 'SVC/inject': 'true' });
});

test('5,000 pods take little memory', () => {
  const intern = createIntern();
  const store = createStore((object: PodObject) => projectPod(object, intern), {});
  const used = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  for (let workload = 0; workload < 250; workload++)
    for (let replica = 0; replica < 20; replica++)
      store.put(JSON.parse(podJson(workload, replica)) as PodObject);
  const bytes = (used() - before) / store.size;
  assert.is(store.size, 5_000);
  assert.ok(bytes < 3_000, `${Math.round(bytes)} bytes a pod`);
});

const many = (count: number) => Array.from({ length: count }, (_, index) => index.toString(36));
const texts = (count: number) => Object.fromEntries(many(count).map((name) => [name, '']));

/** What one pod may have within the 1.5 MiB that etcd takes, by the member that is full of it. */
const fullOf: Readonly<Record<string, (pod: PodObject) => object>> = {
  labels: ({ metadata }) => Object.assign(metadata, { labels: texts(150_000) }),
  annotations: ({ metadata }) =>
    Object.assign(metadata, {
      annotations: Object.fromEntries(many(20_000).map((name) => [`svc/${name}`, ''])),
    }),
  args: ({ spec }) => Object.assign(spec.containers[0] ?? {}, { args: many(250_000) }),
  'empty args': ({ spec }) => Object.assign(spec.containers[0] ?? {}, { args: new Array(500_000).fill('') }),
  command: ({ spec }) => Object.assign(spec.containers[0] ?? {}, { command: many(250_000) }),
  env: ({ spec }) => Object.assign(spec.containers[0] ?? {}, { env: many(90_000).map((name) => ({ name })) }),
  envFrom: ({ spec }) =>
    Object.assign(spec.containers[0] ?? {}, {
      envFrom: many(50_000).map((name) => ({ secretRef: { name } })),
    }),
  volumes: ({ spec }) => Object.assign(spec, { volumes: many(60_000).map((name) => ({ name })) }),
  volumeMounts: ({ spec }) =>
    Object.assign(spec.containers[0] ?? {}, {
      volumeMounts: many(50_000).map((name) => ({ name, mountPath: name })),
    }),
  containers: ({ spec }) =>
    Object.assign(spec, { containers: many(60_000).map((name) => ({ name, image: 'a' })) }),
  nodeSelector: ({ spec }) => Object.assign(spec, { nodeSelector: texts(150_000) }),
  ownerReferences: ({ metadata }) =>
    Object.assign(metadata, {
      ownerReferences: many(10_000).map((name) => ({ kind: 'A', name, uid: name })),
    }),
};

for (const [member, fill] of Object.entries(fullOf))
  test(`little is kept of a pod full of ${member}`, () => {
    const pod = JSON.parse(podJson(1, 1)) as PodObject;
    fill(pod);
    Object.assign(pod.metadata.labels ?? {}, { 'svc/protected': 'true' });
    const kept = projectPod(pod, createIntern());
    assert.is(kept.pod.metadata.labels?.['svc/protected'], 'true');
    const { length } = JSON.stringify(kept);
    assert.ok(length < 3 * 64 * 1024, `${length} characters`);
  });

test('10,000 pods of 1,000 workloads fit in a container of 128 MiB', () => {
  const intern = createIntern();
  const room = new KeptRoom(roomWithin(128 * 1024 * 1024));
  for (let workload = 0; workload < 1_000; workload++)
    for (let replica = 0; replica < 10; replica++) {
      const object = JSON.parse(podJson(workload, replica)) as PodObject;
      assert.ok(room.take(`team-${workload % 300}`, projectPod(object, intern)));
    }
});

test('a long policy counts as one that allows everything', () => {
  const policy = (blocks: number) =>
    ({
      metadata: { name: 'a', namespace: 'b', uid: 'c', resourceVersion: '1' },
      spec: { podSelector: {}, egress: [{ to: many(blocks).map((cidr) => ({ ipBlock: { cidr } })) }] },
    }) as PolicyObject;
  assert.equal(projectPolicy(policy(1_000)).spec, policy(1_000).spec);
  assert.equal(projectPolicy(policy(30_000)).spec.egress, [{}]);
});

test.run();
