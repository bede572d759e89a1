import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Helm, helm, type Manifest, manifest } from '../../support/helm.ts';

const test = suite<{ helm: Helm }>('values of the specification');

test.before(async (context) => {
  context.helm = await helm();
});
test.after(({ helm }) => helm?.remove());

async function operatorOf(helm: Helm, operator: object) {
  const { spec } = manifest(await helm.render({ operator }), 'Deployment', 'svc-operator');
  const pod = spec.template.spec;
  const [container] = pod.containers;
  const variables = Object.fromEntries(container.env.map(({ name, value }: Manifest) => [name, value]));
  return { spec, pod, container, variables };
}

test('operator.replicaCount is the number of replicas, which elect where there are several', async ({
  helm,
}) => {
  const two = await operatorOf(helm, { replicaCount: 2 });
  assert.is(two.spec.replicas, 2);
  assert.is(two.variables['SVC_OPERATOR_LEADER_ELECT'], 'true');
  const five = await operatorOf(helm, { ha: true, replicaCount: 5 });
  assert.is(five.spec.replicas, 5);
});

test('operator.leaderElect has a single replica elect as several do, unless it is false', async ({
  helm,
}) => {
  const usual = await operatorOf(helm, {});
  assert.is(usual.spec.replicas, 1);
  assert.is(usual.variables['SVC_OPERATOR_LEADER_ELECT'], 'true');
  assert.equal(usual.spec.strategy.rollingUpdate, { maxSurge: 1, maxUnavailable: 0 });
  const alone = await operatorOf(helm, { leaderElect: false });
  assert.is(alone.variables['SVC_OPERATOR_LEADER_ELECT'], 'false');
  assert.is(alone.spec.strategy.type, 'Recreate');
});

test('operator.webhook.certSecret is mounted where the operator is told to look', async ({ helm }) => {
  const { pod, container, variables } = await operatorOf(helm, { webhook: { certSecret: 'webhook-cert' } });
  const volume = pod.volumes.find(({ secret }: Manifest) => secret?.secretName === 'webhook-cert');
  const mount = container.volumeMounts.find(({ name }: Manifest) => name === volume.name);
  assert.is(variables['SVC_OPERATOR_CERT_DIR'], mount.mountPath);
  const none = await operatorOf(helm, {});
  assert.is(none.variables['SVC_OPERATOR_CERT_DIR'], undefined);
});

test('operator.webhook.clientCA is mounted where the operator is told to look', async ({ helm }) => {
  const clientCA = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----';
  const { pod, container, variables } = await operatorOf(helm, { webhook: { clientCA } });
  const volume = pod.volumes.find(
    ({ configMap }: Manifest) => configMap?.name === 'svc-operator-webhook-client-ca',
  );
  const mount = container.volumeMounts.find(({ name }: Manifest) => name === volume.name);
  assert.is(variables['SVC_OPERATOR_WEBHOOK_CLIENT_CA_FILE'], `${mount.mountPath}/ca.crt`);
  const none = await operatorOf(helm, {});
  assert.is(none.variables['SVC_OPERATOR_WEBHOOK_CLIENT_CA_FILE'], undefined);
});

test('operator.registryCA and registryCredentials are mounted where the operator is told to look', async ({
  helm,
}) => {
  const registryCA = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----';
  const { pod, container, variables } = await operatorOf(helm, { registryCA, registryCredentials: 'pull' });
  const at = (name: string) =>
    container.volumeMounts.find((mount: Manifest) => mount.name === name).mountPath;
  const authorities = pod.volumes.find(
    ({ configMap }: Manifest) => configMap?.name === 'svc-operator-registry-ca',
  );
  assert.is(variables['SVC_OPERATOR_REGISTRY_CA_FILE'], `${at(authorities.name)}/ca.crt`);
  const { name, secret } = pod.volumes.find((volume: Manifest) => volume.secret?.secretName === 'pull');
  assert.equal(secret.items, [{ key: '.dockerconfigjson', path: 'config.json' }]);
  assert.is(variables['SVC_OPERATOR_REGISTRY_CREDENTIALS'], `${at(name)}/config.json`);
});

test('operator.resources and ebpf.resources are those of the containers', async ({ helm }) => {
  const resources = { requests: { cpu: '1' }, limits: { memory: '1Gi' } };
  const all = await helm.render({ operator: { resources }, ebpf: { resources } });
  for (const [kind, name] of [
    ['Deployment', 'svc-operator'],
    ['DaemonSet', 'svc-ebpf'],
  ] as const) {
    const [container] = manifest(all, kind, name).spec.template.spec.containers;
    assert.is(container.resources.requests.cpu, '1', name);
    assert.is(container.resources.limits.memory, '1Gi', name);
  }
});

test('webhook.failurePolicy is Fail unless it is told otherwise', async ({ helm }) => {
  const policiesOf = async (operator: object) => {
    const all = await helm.render({ operator });
    const { webhooks } = manifest(all, 'MutatingWebhookConfiguration', 'svc-operator');
    return webhooks.map(({ failurePolicy }: Manifest) => failurePolicy);
  };
  assert.equal(await policiesOf({}), ['Fail', 'Fail']);
  const ignoring = { development: true, webhook: { failurePolicy: 'Ignore' } };
  assert.equal(await policiesOf(ignoring), ['Ignore', 'Ignore']);
});

test.run();
