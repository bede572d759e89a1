import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCgroups, type TestCgroups } from '../../../support/cgroups.ts';
import { type Kubernetes, startKubernetes } from '../../../support/kubernetes.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type PodRig, startRig } from './support/rig.ts';

interface Context {
  cluster: Kubernetes;
  namespace: string;
  cgroups: TestCgroups;
  rigs: PodRig[];
}

export const idle = true;

const test = suite<Context>('watch of labelled pods at a real API server');
const burstable = 'kubepods.slice/kubepods-burstable.slice';
const folderOf = (uid: string) => `${burstable}/kubepods-burstable-pod${uid.replaceAll('-', '_')}.slice`;
const LABELS = { 'svc/protected': 'true' };
/** What the specification grants the agent. */
const RULES = [
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['nodes'], verbs: ['get'] },
];

test.before(async (context) => {
  context.cluster = await startKubernetes();
  await context.cluster.must('POST', '/api/v1/nodes', { metadata: { name: 'there' } });
});

test.before.each(async (context) => {
  context.rigs = [];
  context.namespace = await context.cluster.createNamespace();
  // a node of the namespace's own name: what other tests have left runs elsewhere
  await context.cluster.must('POST', '/api/v1/nodes', { metadata: { name: context.namespace } });
  context.cgroups = createCgroups();
  context.cgroups.make(burstable);
});

test.after.each(async ({ rigs, cgroups }) => {
  await Promise.all(rigs.map(({ watch }) => watch.close()));
  await cgroups?.stop();
});

test.after(({ cluster }) => cluster?.stop());

async function agentToken({ cluster, namespace }: Context, rules: readonly object[]): Promise<string> {
  const account = { namespace, name: 'agent' };
  const name = `agent-${namespace}`;
  await cluster.createServiceAccount(account);
  await cluster.apply(
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name }, rules },
    {
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name } },
      subjects: [{ kind: 'ServiceAccount', ...account }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    },
  );
  return cluster.tokenFor(account);
}

interface StartOptions {
  readonly rules?: readonly object[];
  readonly node?: string;
}

async function start(context: Context, options: StartOptions = {}): Promise<PodRig> {
  const { rules = RULES, node = context.namespace } = options;

  const env = { KUBECONFIG: context.cluster.kubeconfig(await agentToken(context, rules)) };
  const rig = await startRig({ cgroupRoot: context.cgroups.root, env, node });
  context.rigs.push(rig);
  return rig;
}

/** @returns its UID */
async function addPod({ cluster, namespace }: Context, name: string, labels = LABELS, nodeName = namespace) {
  const spec = { nodeName, containers: [{ name: 'app', image: 'app:1' }] };
  const pod = { metadata: { name, labels }, spec };
  return (await cluster.must('POST', `/api/v1/namespaces/${namespace}/pods`, pod)).metadata.uid as string;
}

async function removePod({ cluster, namespace }: Context, name: string) {
  await cluster.must('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}?gracePeriodSeconds=0`);
}

const knows = (rig: PodRig, uids: readonly string[]) =>
  waitFor(`the pods ${uids}`, () => `${[...rig.labelled()].sort()}` === `${[...uids].sort()}`);
const covers = ({ guard }: PodRig, id: bigint) => waitFor(`${id} to be covered`, () => guard.covered.has(id));

test('needs no more than to read pods and its node', async (context) => {
  const uid = await addPod(context, 'first');
  await addPod(context, 'unlabelled', { 'svc/protected': 'false' });
  await addPod(context, 'elsewhere', LABELS, 'there');
  const id = context.cgroups.make(folderOf(uid));
  const rig = await start(context);
  await covers(rig, id);
  await knows(rig, [uid]);
  await removePod(context, 'first');
  const second = await addPod(context, 'second');
  await knows(rig, [second]);
  await covers(rig, context.cgroups.make(folderOf(second)));
  assert.ok(rig.guard.covered.has(id));
  await context.cgroups.remove(folderOf(uid));
  await waitFor('the release', () => rig.guard.released.includes(id));
  assert.equal(
    rig.lines.filter(({ level }) => level === 'warn' || level === 'error'),
    [],
  );
});

for (const verb of ['list', 'watch']) {
  test(`says what it lacks without the verb ${verb}`, async (context) => {
    const pods = { ...RULES[0], verbs: ['get', 'list', 'watch'].filter((each) => each !== verb) };
    const rig = await start(context, { rules: [pods, RULES[1] as object] });
    await rig.logged('kube.watch.failed');
    const line = rig.lines.find(({ event }) => event === 'kube.watch.failed');
    assert.is(line?.['code'], 'KUBE_DENIED');
    assert.match(String(line?.error), new RegExp(`cannot ${verb} resource "pods"`));
    assert.match(rig.degraded()['pods'] ?? '', /not being watched/);
  });
}

test('says that it may not look at its node, and follows all the same', async (context) => {
  const rig = await start(context, { rules: RULES.slice(0, 1) });
  const uid = await addPod(context, 'first');
  await rig.logged('pods.node.unchecked');
  await knows(rig, [uid]);
});

test('notices a wrong node name', async (context) => {
  const rig = await start(context, { node: 'nowhere' });
  await rig.logged('pods.node.unknown');
});

test('no longer wants a pod that has lost its label, and covers it to its end', async (context) => {
  const uid = await addPod(context, 'first');
  const id = context.cgroups.make(folderOf(uid));
  const rig = await start(context);
  await covers(rig, id);
  const path = `/api/v1/namespaces/${context.namespace}/pods/first`;
  await context.cluster.must('PATCH', path, { metadata: { labels: { 'svc/protected': null } } });
  await knows(rig, []);
  assert.ok(rig.guard.covered.has(id));
  await context.cluster.must('PATCH', path, { metadata: { labels: { 'svc/protected': 'true' } } });
  await knows(rig, [uid]);
  assert.equal(rig.guard.released, []);
});

test('outlives the API server, and learns what it has missed', async (context) => {
  const uid = await addPod(context, 'first');
  const id = context.cgroups.make(folderOf(uid));
  const rig = await start(context);
  await covers(rig, id);
  await context.cluster.pause();
  await waitFor('the loss', async () => (await rig.metric('svc_agent_pod_watch_connected')) === 0);
  assert.equal([...rig.guard.covered], [id]);
  assert.equal(rig.labelled(), [uid]);
  await context.cluster.resume();
  const second = await addPod(context, 'second');
  await knows(rig, [uid, second]);
  assert.is(await rig.metric('svc_agent_pod_watch_connected'), 1);
  assert.equal(rig.degraded(), {});
});

test.run();
