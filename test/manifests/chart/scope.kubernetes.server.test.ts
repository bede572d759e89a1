import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { manifest } from '../../support/helm.ts';
import { type Cluster, startCluster, stopCluster } from './cluster.ts';

const test = suite<Cluster>('scope of the webhook, while no operator answers');

test.before(async (context) => {
  Object.assign(context, await startCluster());
  const webhooks = manifest(await context.helm.render(), 'MutatingWebhookConfiguration', 'svc-operator');
  await context.kubernetes.apply(webhooks);
});
test.after(stopCluster);

const WANTS_PROTECTION = { 'svc/inject': 'true' };

/** Whether a pod is made; what refuses it otherwise. */
async function outcome({ kubernetes }: Cluster, namespace: string, annotations?: object): Promise<string> {
  await kubernetes.createServiceAccount({ namespace, name: 'default' });
  const { status, text } = await kubernetes.request('POST', `/api/v1/namespaces/${namespace}/pods`, {
    metadata: { generateName: 'pod-', ...(annotations && { annotations }) },
    spec: { containers: [{ name: 'shop', image: 'shop:1' }] },
  });
  return status === 201 ? 'made' : text;
}

test('a pod that asks for nothing is made, with other annotations and without', async (cluster) => {
  const namespace = await cluster.kubernetes.createNamespace();
  assert.is(await outcome(cluster, namespace), 'made');
  assert.is(await outcome(cluster, namespace, { 'example.com/svc': 'x', svc: 'x' }), 'made');
});

test('one that asks for protection is not, and is told which webhook', async (cluster) => {
  const namespace = await cluster.kubernetes.createNamespace();
  assert.match(await outcome(cluster, namespace, WANTS_PROTECTION), /annotated\.svc\.io/);
  assert.match(await outcome(cluster, namespace, { 'svc/anything': '' }), /annotated\.svc\.io/);
});

test('nor is any in a protected namespace, and each is asked about once', async (cluster) => {
  const namespace = await cluster.kubernetes.createNamespace({ 'svc/protected': 'true' });
  for (const annotations of [undefined, { 'example.com/a': 'x' }])
    assert.match(await outcome(cluster, namespace, annotations), /namespace\.svc\.io/);
  const text = await outcome(cluster, namespace, WANTS_PROTECTION);
  assert.match(text, /annotated\.svc\.io/);
  assert.not.match(text, /namespace\.svc\.io/);
});

test("the cluster's own pods and the operator's are never asked about", async (cluster) => {
  for (const namespace of ['kube-system', 'svc-system']) {
    await cluster.kubernetes.must('PATCH', `/api/v1/namespaces/${namespace}`, {
      metadata: { labels: { 'svc/protected': 'true' } },
    });
    assert.is(await outcome(cluster, namespace, WANTS_PROTECTION), 'made', namespace);
  }
});

test.run();
