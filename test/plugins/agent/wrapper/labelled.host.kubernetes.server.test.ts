import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCgroups, type TestCgroups } from '../../../support/cgroups.ts';
import { type Kubernetes, startKubernetes } from '../../../support/kubernetes.ts';
import { reapProcess } from '../../../support/reaper.ts';
import { type SvcAgent, startSvcAgent } from '../../../support/svc-agent.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { privateFileSystem } from '../bpf/private-file-system.ts';
import { attack, type Victim } from '../guard/bed.ts';

interface Context {
  cluster: Kubernetes;
  namespace: string;
  cgroups: TestCgroups;
  files: ReturnType<typeof privateFileSystem>;
  agent: SvcAgent;
  victims: Victim[];
}

/** Pods that may not mount the agent's socket: their label is enough. */
const test = suite<Context>('svc run agent and labelled pods');
const NODE = 'node-1';
/** What the specification grants the agent, and nothing else. */
const RULES = [
  { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: [''], resources: ['nodes'], verbs: ['get'] },
];
const rbac = 'rbac.authorization.k8s.io';

async function agentToken(cluster: Kubernetes, namespace: string): Promise<string> {
  const account = { namespace, name: 'node-agent' };
  const apiVersion = `${rbac}/v1`;
  const metadata = { name: 'svc-node-agent' };
  await cluster.createServiceAccount(account);
  await cluster.apply(
    { apiVersion, kind: 'ClusterRole', metadata, rules: RULES },
    {
      ...{ apiVersion, kind: 'ClusterRoleBinding', metadata },
      subjects: [{ kind: 'ServiceAccount', ...account }],
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: metadata.name },
    },
  );
  return cluster.tokenFor(account);
}

test.before(async (context) => {
  const cluster = await startKubernetes();
  await cluster.must('POST', '/api/v1/nodes', { metadata: { name: NODE } });
  const namespace = await cluster.createNamespace();
  const cgroups = createCgroups();
  cgroups.make('kubepods/burstable');
  const files = privateFileSystem();
  Object.assign(context, { cluster, namespace, cgroups, files, victims: [] });
  context.agent = await startSvcAgent({
    bpfFolder: join(files.path, 'svc'),
    env: {
      KUBECONFIG: cluster.kubeconfig(await agentToken(cluster, namespace)),
      NODE_NAME: NODE,
      SVC_AGENT_REACTIVE_KILL: 'true',
      SVC_CGROUP_ROOT: cgroups.root,
    },
  });
});

test.after.each(async ({ victims }) => {
  for (const victim of victims.splice(0)) await victim.end();
});

test.after(async ({ agent, cgroups, cluster, files }) => {
  await agent?.stop();
  files?.remove();
  await cgroups?.stop();
  await cluster?.stop();
});

/** @returns its UID */
async function addPod({ cluster, namespace }: Context, name: string, labels = {}): Promise<string> {
  const spec = { nodeName: NODE, containers: [{ name: 'app', image: 'app:1' }] };
  const pod = { metadata: { name, labels }, spec };
  return (await cluster.must('POST', `/api/v1/namespaces/${namespace}/pods`, pod)).metadata.uid;
}

const label = ({ cluster, namespace }: Context, name: string, value: string | null) =>
  cluster.must('PATCH', `/api/v1/namespaces/${namespace}/pods/${name}`, {
    metadata: { labels: { 'svc/protected': value } },
  });

const CONTAINER = 'c'.repeat(64);
const containerOf = (uid: string) => `kubepods/burstable/pod${uid}/${CONTAINER}`;

/** A process of the pod that has a secret from its start. */
async function startIn({ cgroups, victims }: Context, uid: string): Promise<Victim> {
  const folder = containerOf(uid);
  cgroups.make(folder);
  const secret = randomBytes(12).toString('hex');
  const enter = 'echo 0 >"$0/cgroup.procs"; exec env SECRET="$1" cat';
  const child = spawn('/bin/sh', ['-c', enter, join(cgroups.root, folder), secret], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const pid = child.pid as number;
  const exited = once(child, 'exit');
  child.once('exit', reapProcess(pid));
  const victim: Victim = {
    pid,
    secret,
    async end() {
      child.kill('SIGKILL');
      await exited;
    },
  };
  victims.push(victim);
  await waitFor('the secret in its environment', () => attack(victim) === 'read');
  return victim;
}

const isCovered = ({ agent }: Context, uid: string) =>
  waitFor(`pod ${uid} to be covered`, () => agent.events('pod.covered').some(({ pod }) => pod === uid), {
    details: agent.output,
  });

test('covers a process that runs already as soon as its pod is labelled', async (context) => {
  const uid = await addPod(context, 'plain');
  const other = await startIn(context, await addPod(context, 'other'));
  const victim = await startIn(context, uid);
  assert.is(attack(victim), 'read');
  await label(context, 'plain', 'true');
  await isCovered(context, uid);
  assert.is(attack(victim), 'killed');
  assert.is(attack(other), 'read', 'of another pod');
});

test('covers what is started in a labelled pod, and tells of the attempt with its pod and container', async (context) => {
  const uid = await addPod(context, 'told', { 'svc/protected': 'true' });
  const status = {
    containerStatuses: [
      {
        ...{ name: 'app', image: 'app:1', imageID: '', ready: true, restartCount: 0 },
        containerID: `containerd://${CONTAINER}`,
      },
    ],
  };
  const path = `/api/v1/namespaces/${context.namespace}/pods/told/status`;
  await context.cluster.must('PATCH', path, { status });
  context.cgroups.make(containerOf(uid));
  await isCovered(context, uid);
  const { pid } = await context.cgroups.startIn(containerOf(uid));
  const victim = { pid, secret: 'none', end: async () => undefined };
  // the agent looks for new cgroups once a second
  const hit = await waitFor('a hit with its pod', () => {
    assert.is(attack(victim), 'killed');
    return context.agent
      .events('hit.killed')
      .find((line) => line['target_pid'] === pid && line['target_pod'] && line['target_container']);
  });
  assert.is(hit['target_pod'], uid);
  assert.is(hit['target_pod_name'], `${context.namespace}/told`);
  assert.is(hit['target_container'], 'app');
});

test('goes on covering it without the agent, and when the agent has come back', async (context) => {
  const uid = await addPod(context, 'lasting');
  const victim = await startIn(context, uid);
  await label(context, 'lasting', 'true');
  await isCovered(context, uid);
  await context.agent.kill('SIGKILL');
  assert.is(attack(victim), 'killed');
  await context.agent.restart();
  assert.is(attack(victim), 'killed');
});

test('covers nothing of a pod whose label says something else', async (context) => {
  const uid = await addPod(context, 'unprotected', { 'svc/protected': 'false' });
  const victim = await startIn(context, uid);
  const later = await addPod(context, 'later', { 'svc/protected': 'true' });
  context.cgroups.make(containerOf(later));
  await isCovered(context, later);
  assert.is(attack(victim), 'read');
});

test.run();
