import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { manifest } from '../../support/helm.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Cluster, startCluster, stopCluster } from './cluster.ts';
import { lateLabel, startLateWebhook } from './late-webhook.ts';

const test = suite<Cluster>('scope of the webhook, while no operator answers');

test.before(async (context) => {
  Object.assign(context, await startCluster());
  const all = await context.helm.render();
  const kinds = ['MutatingWebhookConfiguration', ...POLICY];
  await context.kubernetes.apply(...kinds.map((kind) => manifest(all, kind, 'svc-operator')));
});
test.after(stopCluster);

const WANTS_PROTECTION = { 'svc/inject': 'true' };

const POLICY = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'];

/** Whether a pod is made; what refuses it otherwise. */
async function outcome(
  { kubernetes }: Cluster,
  namespace: string,
  annotations?: object,
  { labels = {}, ...container }: { labels?: object; name?: string; command?: readonly string[] } = {},
): Promise<string> {
  await kubernetes.createServiceAccount({ namespace, name: 'default' });
  const { status, text } = await kubernetes.request('POST', `/api/v1/namespaces/${namespace}/pods`, {
    metadata: { generateName: 'pod-', labels, ...(annotations && { annotations }) },
    spec: { containers: [{ name: 'shop', image: 'shop:1', ...container }] },
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

test('one whose annotations come after svc-operator could see it is refused, by the policy', async (cluster) => {
  const add = (annotations: object) => [{ op: 'add', path: '/metadata/annotations', value: annotations }];
  const namespace = await cluster.kubernetes.createNamespace();
  const labels = { [lateLabel]: 'true' };
  const late = await startLateWebhook(cluster.kubernetes, add(WANTS_PROTECTION));
  try {
    // a configuration that is new takes the API server a moment
    const text = await waitFor('the refusal', async () => {
      const answer = await outcome(cluster, namespace, undefined, { labels });
      return answer !== 'made' && answer;
    });
    assert.match(text, /ValidatingAdmissionPolicy 'svc-operator'.*no container starts with it/);
    assert.match(text, /"code":403/);
    const wrapped = { labels, command: ['/svc/svc-wrapper'] };
    assert.is(await outcome(cluster, namespace, undefined, wrapped), 'made');
    const copierAlone = { ...wrapped, name: 'svc-wrapper' };
    assert.match(await outcome(cluster, namespace, undefined, copierAlone), /no container starts with it/);
    assert.is(await outcome(cluster, 'kube-system', undefined, { labels }), 'made');
    assert.is(await outcome(cluster, namespace), 'made');
  } finally {
    await late.stop();
  }
});

test('one that is not annotated, and whose wrapper was taken out, is refused as well', async ({
  kubernetes,
}) => {
  const namespace = await kubernetes.createNamespace();
  const volumes = [{ name: 'svc-wrapper', emptyDir: {} }];
  const post = async (more: object, labels: object = {}) => {
    const spec = { volumes, containers: [{ name: 'shop', image: 'shop:1', ...more }] };
    const pod = { metadata: { generateName: 'pod-', labels }, spec };
    return (await kubernetes.request('POST', `/api/v1/namespaces/${namespace}/pods`, pod)).text;
  };
  assert.match(await post({}), /no container starts with it/);
  // whoever has a volume of this name for another purpose learns that it is reserved
  assert.match(await post({}), /the name svc-wrapper, which is reserved for svc-operator: rename it/);
  assert.match(await post({ command: ['/svc/svc-wrapper'] }), /"kind":"Pod"/);
  const value = { 'svc/inject': 'false' };
  const late = await startLateWebhook(kubernetes, [{ op: 'add', path: '/metadata/annotations', value }]);
  try {
    const optedOut = { [lateLabel]: 'true' };
    const whole = await waitFor('the annotation', async () => {
      const text = await post({ command: ['/svc/svc-wrapper'] }, optedOut);
      return text.includes('svc/inject') && text;
    });
    assert.match(whole, /"kind":"Pod"/);
    assert.match(await post({}, optedOut), /no container starts with it/);
  } finally {
    await late.stop();
  }
});

const folder = { volumeMounts: [{ name: 'svc-wrapper', mountPath: '/svc' }] };
const command = ['/svc/svc-wrapper'];
const wrapped = { name: 'shop', image: 'shop:1', ...folder, command };

for (const [name, containers, initContainers, made] of [
  ['a second container from which it was taken out', [wrapped, { ...folder, name: 'b' }], [], false],
  [
    'a second container with another command',
    [wrapped, { ...wrapped, name: 'b', command: ['/b'] }],
    [],
    false,
  ],
  ['an init container from which it was taken out', [wrapped], [{ ...folder, name: 'b' }], false],
  ['a native sidecar with it', [wrapped], [{ ...wrapped, name: 'b', restartPolicy: 'Always' }], true],
  [
    'sidecars that came after',
    [wrapped, { name: 'daprd', command: ['/daprd'] }, { name: 'istio-proxy' }],
    [],
    true,
  ],
  [
    'a copier and the proxy',
    [wrapped],
    [
      {
        name: 'svc-wrapper',
        command: [...command, '--copy-to', '/svc-target'],
        volumeMounts: [{ name: 'svc-wrapper', mountPath: '/svc-target' }],
      },
      { name: 'svc-proxy', args: ['run', 'proxy'], restartPolicy: 'Always' },
    ],
    true,
  ],
] as const) {
  test(`beside a container with the wrapper, ${name} is ${made ? 'admitted' : 'refused'}`, async ({
    kubernetes,
  }) => {
    const namespace = await kubernetes.createNamespace();
    const withImage = (container: object) => ({ image: 'other:1', ...container });
    const spec = {
      volumes: [{ name: 'svc-wrapper', emptyDir: {} }],
      ...{ containers: containers.map(withImage), initContainers: initContainers.map(withImage) },
    };
    const pod = { metadata: { generateName: 'pod-' }, spec };
    const { status, text } = await kubernetes.request('POST', `/api/v1/namespaces/${namespace}/pods`, pod);
    assert.is(status, made ? 201 : 403, text);
    if (!made) assert.match(text, /do not start with the wrapper: b\./);
  });
}

test('every container that svc/containers names has to have it, and no other', async (cluster) => {
  const namespace = await cluster.kubernetes.createNamespace();
  const given = { ...WANTS_PROTECTION, 'svc/containers': 'shop, second' };
  const late = await startLateWebhook(cluster.kubernetes, [
    { op: 'add', path: '/metadata/annotations', value: given },
  ]);
  const post = async (...names: readonly string[]) => {
    const containers = ['shop', 'second', 'third'].map((name) => ({
      ...{ name, image: 'shop:1' },
      ...(names.includes(name) && { command }),
    }));
    const metadata = { generateName: 'pod-', labels: { [lateLabel]: 'true' } };
    const path = `/api/v1/namespaces/${namespace}/pods`;
    return (await cluster.kubernetes.request('POST', path, { metadata, spec: { containers } })).text;
  };
  try {
    await waitFor('the refusal', async () =>
      /do not start with the wrapper: second\./.test(await post('shop')),
    );
    assert.match(await post('shop', 'second'), /"kind":"Pod"/);
  } finally {
    await late.stop();
  }
});

test('one that opts out late starts as it is', async (cluster) => {
  const namespace = await cluster.kubernetes.createNamespace();
  const value = { 'svc/inject': 'false', 'svc/vault-role': 'shop' };
  const late = await startLateWebhook(cluster.kubernetes, [
    { op: 'add', path: '/metadata/annotations', value },
    { op: 'add', path: '/metadata/labels/seen', value: 'true' },
  ]);
  const isSeen = async () => {
    await outcome(cluster, namespace, undefined, { labels: { [lateLabel]: 'true' } });
    const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=seen`;
    return (await cluster.kubernetes.must('GET', path)).items.length > 0;
  };
  await waitFor('a pod with the late annotations', isSeen).finally(() => late.stop());
});

test.run();
