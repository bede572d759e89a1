import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Kubernetes, startKubernetes } from '../../../support/kubernetes.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { podObject, prepareCluster, type Replica, startReplica } from '../operator-rig.ts';

const test = suite("the operator's view of the cluster");
let kube: Kubernetes;
let replica: Replica;
let namespace: string;

test.before(async () => {
  kube = await startKubernetes();
  const token = await prepareCluster(kube);
  namespace = await kube.createNamespace();
  replica = await startReplica(kube, token, { leading: false, staleMs: 200 });
});

test.after(async () => {
  await replica?.stop();
  await kube?.stop();
});

const template = {
  metadata: { labels: { app: 'a' }, annotations: { 'svc/vault-role': 'a', 'other/note': 'x' } },
  spec: { containers: [{ name: 'app', image: 'app:1', env: [{ name: 'PASSWORD', value: 'hunter2' }] }] },
};
const selector = { matchLabels: { app: 'a' } };

const create = (path: string, object: object) =>
  kube.must('POST', `${path.replace('*', `namespaces/${namespace}`)}`, object);
const owned = (owner: { kind: string; metadata: { name: string; uid: string } }, apiVersion: string) => [
  { apiVersion, kind: owner.kind, name: owner.metadata.name, uid: owner.metadata.uid, controller: true },
];

async function podOf(name: string, ownerReferences: readonly object[]) {
  const pod = podObject(name);
  await create('/api/v1/*/pods', { ...pod, metadata: { ...pod.metadata, ownerReferences } });
  return waitFor(name, () => replica.cluster.pods.get(`${namespace}/${name}`));
}

test('is ready once everything is listed', () => {
  assert.ok(replica.health.isReady());
  assert.ok(replica.cluster.workloads.synced);
  assert.ok(replica.cluster.namespaces.get(namespace));
});

test('finds the Deployment behind a pod, and gives its template', async () => {
  const deployment = await create('/apis/apps/v1/*/deployments', {
    metadata: { name: 'shop' },
    spec: { selector, template },
  });
  const set = await create('/apis/apps/v1/*/replicasets', {
    metadata: { name: 'shop-1', labels: { app: 'a' }, ownerReferences: owned(deployment, 'apps/v1') },
    spec: { selector, template },
  });
  const { workloads } = replica.cluster;
  await waitFor('the ReplicaSet', () => workloads.get(`ReplicaSet/${namespace}/shop-1`));
  const pod = await podOf('shop-1-a', owned(set, 'apps/v1'));
  assert.equal(workloads.ownerOf(pod), { kind: 'Deployment', namespace, name: 'shop' });
  const known = await waitFor('the Deployment', () => workloads.get(`Deployment/${namespace}/shop`));
  assert.equal(known.template?.metadata.annotations, { 'svc/vault-role': 'a' });
  assert.equal(known.template?.spec.containers[0]?.env, [{ name: 'PASSWORD' }]);
  assert.is(workloads.get(`ReplicaSet/${namespace}/shop-1`)?.template, undefined);
});

test('finds the CronJob behind a pod', async () => {
  const pods = { ...template, spec: { ...template.spec, restartPolicy: 'Never' } };
  const cronJob = await create('/apis/batch/v1/*/cronjobs', {
    metadata: { name: 'nightly' },
    spec: { schedule: '0 0 * * *', jobTemplate: { spec: { template: pods } } },
  });
  const job = await create('/apis/batch/v1/*/jobs', {
    metadata: { name: 'nightly-1', ownerReferences: owned(cronJob, 'batch/v1') },
    spec: { template: { ...pods, metadata: {} } },
  });
  const { workloads } = replica.cluster;
  await waitFor('the Job', () => workloads.get(`Job/${namespace}/nightly-1`));
  const known = await waitFor('the CronJob', () => workloads.get(`CronJob/${namespace}/nightly`));
  assert.equal(known.template?.metadata.labels, { app: 'a' });
  const pod = await podOf('nightly-1-a', owned(job, 'batch/v1'));
  assert.equal(workloads.ownerOf(pod), { kind: 'CronJob', namespace, name: 'nightly' });
});

test('names controllers of other kinds by the reference to them, and a lonely pod by itself', async () => {
  const rollout = { kind: 'Rollout', metadata: { name: 'canary', uid: 'b5f9' } };
  const pod = await podOf('canary-a', owned(rollout, 'argoproj.io/v1alpha1'));
  assert.equal(replica.cluster.workloads.ownerOf(pod), { kind: 'Rollout', namespace, name: 'canary' });
  const lonely = await podOf('lonely', []);
  assert.equal(replica.cluster.workloads.ownerOf(lonely), { kind: 'Pod', namespace, name: 'lonely' });
});

test('keeps nothing of a pod that could be a secret', async () => {
  await create(
    '/api/v1/*/pods',
    podObject('careful', {
      annotations: { 'svc/vault-role': 'a', 'kubectl.kubernetes.io/last-applied-configuration': 'hunter2' },
      containers: [
        {
          ...{ name: 'app', image: 'app:1', command: ['/bin/app', '--password=hunter2'], args: ['hunter2'] },
          env: [
            { name: 'PASSWORD', value: 'hunter2' },
            { name: 'SVC_DELIVERY', value: 'fd' },
          ],
          livenessProbe: { exec: { command: ['check', 'hunter2'] } },
          lifecycle: { preStop: { exec: { command: ['stop', 'hunter2'] } } },
        },
      ],
    }),
  );
  const known = await waitFor('the pod', () => replica.cluster.pods.get(`${namespace}/careful`));
  assert.not.match(JSON.stringify(known), 'hunter2');
  const [container] = known.pod.spec.containers;
  assert.equal(container?.command, ['/bin/app', '']);
  assert.equal(container?.env, [{ name: 'PASSWORD' }, { name: 'SVC_DELIVERY', value: 'fd' }]);
});

test('says when it hears nothing any more, keeps what it knows, and makes up for what it has missed', async () => {
  await podOf('kept', []);
  await kube.pause();
  await waitFor('degradation', () => replica.health.snapshot().degraded['watch.pods']);
  assert.ok(replica.health.isReady());
  assert.ok(replica.cluster.pods.get(`${namespace}/kept`));
  const metric = 'svc_cluster_watch_connected{resource="pods"}';
  const { body } = await replica.metrics.expose();
  assert.match(body, `${metric} 0`);
  await kube.resume();
  await kube.must('DELETE', `/api/v1/namespaces/${namespace}/pods/kept`, { gracePeriodSeconds: 0 });
  await create('/api/v1/*/pods', podObject('missed'));
  await waitFor('what was missed', () => {
    const { pods } = replica.cluster;
    return pods.get(`${namespace}/missed`) && !pods.get(`${namespace}/kept`);
  });
  await waitFor('recovery', () => Object.keys(replica.health.snapshot().degraded).length === 0);
  assert.match((await replica.metrics.expose()).body, `${metric} 1`);
});

test.run();
