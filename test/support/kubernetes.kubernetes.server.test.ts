import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Kubernetes, startKubernetes } from './kubernetes.ts';
import { waitFor } from './wait-for.ts';

const test = suite<{ cluster: Kubernetes }>('Kubernetes for tests');

test.before(async (context) => {
  context.cluster = await startKubernetes({ controllers: true });
});

test.after(({ cluster }) => cluster?.stop());

test('is the version that was asked for', async ({ cluster }) => {
  assert.is((await cluster.must('GET', '/version')).gitVersion, 'v1.37.1');
});

test('takes objects of every group, and makes pods of a deployment', async ({ cluster }) => {
  const namespace = await cluster.createNamespace();
  const labels = { app: 'shop' };
  await cluster.apply({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { namespace, name: 'shop' } },
    spec: {
      ...{ replicas: 2, selector: { matchLabels: labels } },
      template: { metadata: { labels }, spec: { containers: [{ name: 'shop', image: 'shop:1' }] } },
    },
  });
  const pods = () => cluster.must('GET', `/api/v1/namespaces/${namespace}/pods`);
  await waitFor('two pods', async () => (await pods()).items.length === 2, { details: cluster.logs });
});

test('lets a service account do what its roles allow, and nothing else', async ({ cluster }) => {
  const namespace = await cluster.createNamespace();
  const account = { namespace, name: 'reader' };
  await cluster.createServiceAccount(account);
  const token = await cluster.tokenFor(account);
  const path = `/api/v1/namespaces/${namespace}/pods`;
  assert.is((await cluster.request('GET', path, undefined, { token })).status, 403);
  assert.is((await cluster.request('GET', path, undefined, { token: 'made-up' })).status, 401);
  await cluster.apply(
    {
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: account },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }],
    },
    {
      ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', metadata: account },
      subjects: [{ kind: 'ServiceAccount', ...account }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: account.name },
    },
  );
  const allowed = () => cluster.request('GET', path, undefined, { token });
  await waitFor('the role', async () => (await allowed()).status === 200);
  assert.is((await cluster.request('DELETE', path, undefined, { token })).status, 403);
});

test('says what is wrong with an object', async ({ cluster }) => {
  const failure = await cluster
    .apply({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' } })
    .catch(String);
  assert.match(String(failure), /spec.containers: Required value/);
});

test('comes back with its data', async ({ cluster }) => {
  const namespace = await cluster.createNamespace();
  await cluster.pause();
  await cluster.resume();
  assert.is((await cluster.must('GET', `/api/v1/namespaces/${namespace}`)).metadata.name, namespace);
});

test.run();
