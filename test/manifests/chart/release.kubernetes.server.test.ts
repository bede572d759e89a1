import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CHART, valueArgs } from '../../support/helm.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Cluster, startCluster, stopCluster } from './cluster.ts';

const test = suite<Cluster>('release of the chart');

test.before(async (context) => {
  Object.assign(context, await startCluster({ controllers: true }));
});
test.after(stopCluster);

const KINDS = [
  ...['serviceaccounts', 'services', 'configmaps', 'deployments', 'daemonsets', 'networkpolicies', 'jobs'],
  ...['poddisruptionbudgets', 'resourcequotas', 'roles', 'rolebindings', 'clusterroles', 'pods'],
  ...['clusterrolebindings', 'mutatingwebhookconfigurations', 'prometheusrules', 'servicemonitors'],
  'podmonitors',
].join(',');

/** Names of what the release has in the cluster, custom resource definitions left out. */
async function objects({ kubernetes }: Cluster): Promise<string[]> {
  const { status, stdout, stderr } = await kubernetes.kubectl([
    ...['get', KINDS, '--namespace=svc-system', '--output=name'],
    '--selector=app.kubernetes.io/instance=svc',
  ]);
  assert.is(status, 0, stderr);
  return stdout.trim().split('\n').filter(Boolean).sort();
}

async function definitions({ kubernetes }: Cluster): Promise<string[]> {
  const { stdout } = await kubernetes.kubectl(['get', 'customresourcedefinitions', '--output=name']);
  return stdout.split('\n').filter((name) => name.endsWith('.svc.io'));
}

async function run({ helm, kubernetes }: Cluster, ...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await helm.run(
    [...args, '--namespace=svc-system'],
    kubernetes.kubeconfig(),
  );
  assert.is(status, 0, stderr);
  return stdout;
}

async function revision({ kubernetes }: Cluster): Promise<string> {
  const { metadata } = await kubernetes.must(
    'GET',
    '/apis/apps/v1/namespaces/svc-system/deployments/svc-operator',
  );
  return metadata.generation;
}

test('installs, upgrades to high availability and back, and leaves only custom resources', async (cluster) => {
  await run(cluster, 'install', 'svc', CHART);
  const installed = await objects(cluster);
  assert.ok(
    installed.includes('deployment.apps/svc-operator') && installed.includes('daemonset.apps/svc-ebpf'),
  );

  const before = await revision(cluster);
  await run(cluster, 'upgrade', 'svc', CHART);
  assert.is(await revision(cluster), before, 'an upgrade to the same changes nothing');

  const values = { operator: { ha: true }, monitoring: { enabled: true } };
  await run(cluster, 'upgrade', 'svc', CHART, ...valueArgs(values));
  const more = await objects(cluster);
  assert.ok(more.includes('poddisruptionbudget.policy/svc-operator'), more.join());
  assert.ok(more.includes('prometheusrule.monitoring.coreos.com/svc'), more.join());

  await run(cluster, 'rollback', 'svc', '1', '--no-hooks');
  const settled = async () =>
    JSON.stringify(without(await objects(cluster))) === JSON.stringify(without(installed));
  await waitFor('the objects of the first release', settled);

  await run(cluster, 'uninstall', 'svc', '--no-hooks');
  await waitFor('nothing left', async () => (await objects(cluster)).length === 0);
  assert.equal(await definitions(cluster), [
    'customresourcedefinition.apiextensions.k8s.io/protectionreports.svc.io',
    'customresourcedefinition.apiextensions.k8s.io/secretmappings.svc.io',
    'customresourcedefinition.apiextensions.k8s.io/serviceconfigs.svc.io',
  ]);
});

test('is installed anew over the custom resources that were kept, and leaves what the operator wrote', async (cluster) => {
  const path = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/svc-operator';
  assert.is((await definitions(cluster)).length, 3);
  await run(cluster, 'install', 'svc', CHART);
  const caBundle = Buffer.from(await authority(cluster)).toString('base64');
  const patch = [0, 1].map((index) => ({
    ...{ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: caBundle },
  }));
  await cluster.kubernetes.must('PATCH', path, patch, { contentType: 'application/json-patch+json' });
  await run(cluster, 'upgrade', 'svc', CHART, '--set=operator.webhook.timeoutSeconds=5');
  const { webhooks } = await cluster.kubernetes.must('GET', path);
  for (const { clientConfig } of webhooks) assert.is(clientConfig.caBundle, caBundle);
  await run(cluster, 'uninstall', 'svc', '--no-hooks');
});

const authority = async ({ kubernetes }: Cluster) => kubernetes.caCert;

/** Pods come and go by themselves. */
const without = (names: readonly string[]) => names.filter((name) => !name.startsWith('pod/'));

test.run();
