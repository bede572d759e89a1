import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createKubeClient } from '../../../../src/cluster/kube/create-client.ts';
import type { Pod } from '../../../../src/cluster/kube/pod.ts';
import { createImageCommands } from '../../../../src/plugins/operator/images/create-image-commands.ts';
import { createLeanMetrics } from '../../../../src/runtime/health/plain-metrics.ts';
import type { Logger } from '../../../../src/runtime/logging/logger.ts';
import { type Kubernetes, startKubernetes } from '../../../support/kubernetes.ts';
import { type Registry, registryUsers, startRegistry } from '../../../support/registry.ts';
import { failureOf } from './rig.ts';

interface Context {
  kubernetes: Kubernetes;
  registry: Registry;
}

const test = suite<Context>('commands of private images, by a real API server and registry');

test.before(async (context) => {
  context.kubernetes = await startKubernetes();
  context.registry = await startRegistry({ users: true });
  await context.registry.push('team/app', 'v1', { entrypoint: ['/app'] });
});
test.after(async ({ kubernetes, registry }) => {
  await registry?.stop();
  await kubernetes?.stop();
});

const log: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };

test('need the secret that kubectl makes, on the pod or on its account', async ({ kubernetes, registry }) => {
  const client = await createKubeClient({ KUBECONFIG: kubernetes.kubeconfig() });
  assert.ok(client);
  const ending = new AbortController();
  const { signal } = ending;
  const images = createImageCommands({
    client,
    mirrors: [],
    local: true,
    log,
    metrics: createLeanMetrics(),
    signal,
  });
  const namespace = await kubernetes.createNamespace();
  const image = `${registry.host}/team/app:v1`;
  const look = (pod: Pod) => images.commandsOf(pod, namespace, [image], { timeoutMs: 20_000 });
  try {
    const login = ['--docker-username', 'bob', '--docker-password', registryUsers.bob];
    const secret = [
      'create',
      'secret',
      'docker-registry',
      'login',
      '--docker-server',
      registry.host,
      ...login,
    ];
    assert.is((await kubernetes.kubectl([...secret, '-n', namespace])).status, 0);
    const containers = [{ name: 'app', image }];
    const plain: Pod = { metadata: {}, spec: { containers } };
    assert.match(await failureOf(look(plain)), /answers 401/);
    const found = await look({ metadata: {}, spec: { containers, imagePullSecrets: [{ name: 'login' }] } });
    assert.equal([...found], [[image, { entrypoint: ['/app'], cmd: [], user: '' }]]);
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
    await kubernetes.must('PATCH', path, { imagePullSecrets: [{ name: 'login' }] });
    assert.is((await look(plain)).size, 1);
  } finally {
    ending.abort(new Error('done'));
    client.close();
  }
});

test.run();
