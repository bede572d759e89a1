import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { CHART, type Manifest } from '../../support/helm.ts';
import { type Cluster, startCluster, stopCluster } from './cluster.ts';

const test = suite<Cluster>('permissions');

const KINDS = ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'Role', 'RoleBinding'];

test.before(async (context) => {
  Object.assign(context, await startCluster());
  const all = await context.helm.render();
  await context.kubernetes.apply(...all.filter(({ kind }: Manifest) => KINDS.includes(kind)));
});
test.after(stopCluster);

interface AskedResource {
  readonly group?: string;
  readonly resource: string;
  readonly name?: string;
  readonly namespace?: string;
}

/** Which of the verbs a service account of svc-system has. */
async function allowed(
  { kubernetes }: Cluster,
  account: string,
  asked: AskedResource,
  verbs: readonly string[] = VERBS,
) {
  const found: string[] = [];
  for (const verb of verbs) {
    const { status } = await kubernetes.must('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
      spec: {
        user: `system:serviceaccount:svc-system:${account}`,
        resourceAttributes: { verb, namespace: 'shop', ...asked },
      },
    });
    if (status.allowed) found.push(verb);
  }
  return found;
}

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'];
const READ = ['get', 'list', 'watch'];

/** The specification's table. */
const SPECIFIED: readonly [AskedResource, readonly string[]][] = [
  [{ resource: 'secrets', namespace: 'svc-system' }, [...READ, 'create', 'update']],
  [{ resource: 'pods' }, READ],
  [{ resource: 'serviceaccounts' }, READ],
  [{ group: 'apps', resource: 'deployments' }, [...READ, 'patch']],
  [
    {
      group: 'admissionregistration.k8s.io',
      resource: 'mutatingwebhookconfigurations',
      name: 'svc-operator',
      namespace: '',
    },
    ['get', 'patch'],
  ],
  ...['serviceconfigs', 'secretmappings', 'protectionreports'].map(
    (resource): [AskedResource, readonly string[]] => [
      { group: 'svc.io', resource },
      [...READ, 'create', 'update', 'patch', 'delete'],
    ],
  ),
];

test('the operator has what the specification gives it, verb by verb', async (cluster) => {
  for (const [asked, verbs] of SPECIFIED)
    assert.equal(await allowed(cluster, 'svc-operator', asked), verbs, asked.resource);
});

test('of Secrets elsewhere it reads those that it knows by name', async (cluster) => {
  assert.equal(await allowed(cluster, 'svc-operator', { resource: 'secrets' }), ['get']);
  assert.equal(await allowed(cluster, 'svc-operator', { resource: 'secrets', namespace: '' }), ['get']);
});

test('what it has not: other webhooks, nodes, pods to make, commands in pods, roles, tokens', async (cluster) => {
  const none: readonly AskedResource[] = [
    { group: 'admissionregistration.k8s.io', resource: 'mutatingwebhookconfigurations', name: 'other' },
    { group: 'admissionregistration.k8s.io', resource: 'validatingwebhookconfigurations' },
    { resource: 'nodes', namespace: '' },
    { resource: 'pods/exec' },
    { resource: 'serviceaccounts/token' },
    { group: 'rbac.authorization.k8s.io', resource: 'clusterroles', namespace: '' },
    { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', namespace: '' },
    { group: 'coordination.k8s.io', resource: 'leases' },
  ];
  for (const asked of none) assert.equal(await allowed(cluster, 'svc-operator', asked), [], asked.resource);
  assert.equal(await allowed(cluster, 'svc-operator', { resource: 'configmaps', name: 'other' }), ['create']);
});

test('what its duties force: leases at home, policies, namespaces, events, its config map', async (cluster) => {
  const of = (asked: AskedResource) => allowed(cluster, 'svc-operator', asked);
  const lease = { group: 'coordination.k8s.io', resource: 'leases', namespace: 'svc-system' };
  assert.equal(await of(lease), ['get', 'create', 'update']);
  assert.equal(await of({ resource: 'namespaces', namespace: '' }), [...READ, 'patch']);
  const policies = { group: 'networking.k8s.io', resource: 'networkpolicies' };
  assert.equal(await of(policies), [...READ, 'create', 'patch', 'delete']);
  assert.equal(await of({ resource: 'events' }), ['create', 'patch']);
  const reviews = { group: 'authentication.k8s.io', resource: 'tokenreviews', namespace: '' };
  assert.equal(await of(reviews), ['create']);
  assert.equal(await of({ resource: 'services' }), READ);
  assert.equal(await of({ group: 'discovery.k8s.io', resource: 'endpointslices' }), READ);
  assert.equal(await of({ group: 'batch', resource: 'cronjobs' }), READ);
  const config = { resource: 'configmaps', name: 'svc-ca' };
  assert.equal(await of(config), [...READ, 'create', 'patch', 'delete']);
});

test('the agent has pods and nodes, to read', async (cluster) => {
  assert.equal(await allowed(cluster, 'svc-ebpf', { resource: 'pods' }), READ);
  assert.equal(await allowed(cluster, 'svc-ebpf', { resource: 'nodes', namespace: '' }), ['get']);
  for (const resource of ['secrets', 'configmaps', 'events', 'namespaces'])
    assert.equal(await allowed(cluster, 'svc-ebpf', { resource }), [], resource);
});

test('every rule says why it is there', () => {
  for (const file of [
    'operator/cluster-role.yaml',
    'operator/role.yaml',
    'agent/rbac.yaml',
    'agent/unload.yaml',
  ]) {
    const lines = readFileSync(join(CHART, 'templates', file), 'utf8').split('\n');
    const rules = lines.flatMap((line, index) => (/^ {2}- apiGroups:/.test(line) ? [index] : []));
    assert.ok(rules.length > 0, file);
    for (const index of rules)
      assert.match(lines[index - 1] ?? '', /^ {2}# \S/, `${file}: ${lines[index + 1]}`);
  }
});

test('no rule has a wildcard', async ({ helm }) => {
  const roles = (await helm.render()).filter(({ rules }: Manifest) => rules !== undefined);
  assert.ok(roles.length >= 3);
  for (const { rules } of roles) assert.not.match(JSON.stringify(rules), /\*/);
});

test.run();
