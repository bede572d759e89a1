import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CHART, type Manifest, manifest, parseManifests } from '../../support/helm.ts';
import { runCommand } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary.ts';
import type { CommandResult } from '../../support/types.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Cluster, complaints, startCluster, stopCluster } from './cluster.ts';

const test = suite<Cluster & { all: readonly Manifest[] }>('hook that unloads the agents');
const PODS = '/api/v1/namespaces/svc-system/pods';

test.before(async (context) => {
  Object.assign(context, await startCluster({ controllers: true }));
  const { stdout } = await context.helm.run(['template', 'svc', CHART, '--namespace=svc-system']);
  context.all = parseManifests(stdout);
  const kinds = ['ServiceAccount', 'Role', 'RoleBinding'];
  await context.kubernetes.apply(...context.all.filter(({ kind }) => kinds.includes(kind)));
});
test.after(stopCluster);

/** The script of the hook, as its service account. */
async function unload({ kubernetes }: Cluster): Promise<CommandResult> {
  const folder = temporaryFolder('unload');
  const account = { namespace: 'svc-system', name: 'svc-ebpf-unload' };
  const token = join(folder.path, 'token');
  writeFileSync(token, await kubernetes.tokenFor(account), { mode: 0o600 });
  const script = join(CHART, 'files', 'unload.mjs');
  const result = await runCommand(process.execPath, [script, token], folder.path, {
    env: {
      ...{ KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(kubernetes.port) },
      ...{ POD_NAMESPACE: 'svc-system', NODE_EXTRA_CA_CERTS: kubernetes.caFile },
    },
  });
  await folder.remove();
  return result;
}

/** What a kubelet does: pods get ready, and those that are to go are gone. */
async function runPods({ kubernetes }: Cluster): Promise<Manifest[]> {
  const { items } = await kubernetes.must('GET', PODS);
  for (const { metadata } of items) {
    const path = `${PODS}/${metadata.name}`;
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    if (metadata.deletionTimestamp) await kubernetes.request('DELETE', `${path}?gracePeriodSeconds=0`);
    else await kubernetes.request('PATCH', `${path}/status`, { status });
  }
  return items;
}

test('the API server takes its objects', async ({ all, kubernetes }) => {
  const hooks = all.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'pre-delete');
  assert.equal(hooks.map(({ kind }) => kind).sort(), [
    ...['ConfigMap', 'Job', 'Role', 'RoleBinding', 'ServiceAccount'],
  ]);
  assert.is(await complaints(kubernetes, hooks), '');
});

test('no agents, nothing to do', async (cluster) => {
  const { status, stdout, stderr } = await unload(cluster);
  assert.is(status, 0, stderr);
  assert.match(stdout, /no DaemonSet/);
});

test('waits until each node has run --unload in place of the agent', async (cluster) => {
  const { all, kubernetes } = cluster;
  await kubernetes.must('POST', '/api/v1/nodes', {
    metadata: { name: 'node-1', labels: { 'kubernetes.io/os': 'linux', 'kubernetes.io/hostname': 'node-1' } },
  });
  await kubernetes.apply(manifest(all, 'DaemonSet', 'svc-ebpf'));
  await waitFor('the agent', async () => (await runPods(cluster)).length === 1, { details: kubernetes.logs });
  let over: CommandResult | undefined;
  const running = unload(cluster).then((result) => {
    over = result;
  });
  const unloading = async () =>
    over !== undefined ||
    (await kubernetes.must('GET', PODS)).items.some(({ spec }: Manifest) => spec.initContainers);
  await waitFor('a pod that unloads', async () => (await runPods(cluster)) && (await unloading()));
  await waitFor('the end', async () => (await runPods(cluster)) && over !== undefined, { timeoutMs: 60_000 });
  await running;
  assert.is(over?.status, 0, over?.stderr);
  assert.match(over?.stdout ?? '', /off 1 nodes/);
  const [{ spec }] = (await kubernetes.must('GET', PODS)).items;
  const [init] = spec.initContainers;
  assert.equal(init.args, ['run', 'agent', '--unload']);
  assert.is(init.securityContext.privileged, true);
  assert.ok(init.volumeMounts.some(({ mountPath }: Manifest) => mountPath === '/sys/fs/bpf'));
  assert.is(spec.containers[0].securityContext, undefined);
});

test.run();
