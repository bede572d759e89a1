import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { PLAIN, renderPlain } from '../../../scripts/lib/manifests.mjs';
import { inRoot } from '../../../scripts/lib/paths.mjs';
import { CHART, type Manifest, manifest, valueArgs } from '../../support/helm.ts';
import {
  type Cluster,
  complaints,
  complaintsOfText,
  namespace,
  startCluster,
  stopCluster,
} from './cluster.ts';
import { INSTALLATIONS } from './values.ts';

/** A helm for each of many installations. */
export const timeout = 300_000;

const test = suite<Cluster>('chart on a real API server');

test.before(async (context) => {
  Object.assign(context, await startCluster());
});
test.after(stopCluster);

test('takes every object of every installation, strictly', async ({ helm, kubernetes }) => {
  for (const [name, { values, options }] of Object.entries(INSTALLATIONS))
    assert.is(await complaints(kubernetes, await helm.render(values, options)), '', name);
});

test('and would not take a field that there is not', async ({ helm, kubernetes }) => {
  const deployment = manifest(await helm.render(), 'Deployment', 'svc-operator');
  deployment.spec.template.spec.containers[0].readynessProbe = {};
  assert.match(await complaints(kubernetes, [deployment]), /readynessProbe/);
});

test('notes are rendered for every installation, and warn', async ({ helm, kubernetes }) => {
  const kubeconfig = kubernetes.kubeconfig();
  // helm's own check of the objects takes most of its time, and the first test has them checked strictly
  const only = ['--dry-run=server', '--disable-openapi-validation'];
  const warned: string[] = [];
  for (const [name, { values }] of Object.entries(INSTALLATIONS)) {
    const args = ['install', 'svc', CHART, '--namespace=svc-system', ...only, ...valueArgs(values)];
    const { status, stdout, stderr } = await helm.run(args, kubeconfig);
    assert.is(status, 0, stderr);
    const notes = stdout.slice(stdout.indexOf('NOTES:'));
    assert.match(notes, /svc\/inject: "true"/, name);
    if (notes.includes('WARNING')) warned.push(name);
  }
  assert.equal(warned, ['without agents', 'audit only', 'for development']);
});

test('plain YAML is that of the chart, and is taken', async ({ helm, kubernetes }) => {
  const plain = readFileSync(inRoot(PLAIN), 'utf8');
  assert.ok(plain === renderPlain(helm.program), `${PLAIN} is stale: run node scripts/manifests.mjs`);
  assert.is(await complaintsOfText(kubernetes, plain), '');
  assert.match(plain, /^kind: Namespace$/m);
  assert.not.match(plain, /helm\.sh\/(chart|hook)|managed-by: Helm/);
});

test('Pod Security: operator and gc pass `restricted`, the agent needs `privileged`', async (context) => {
  const { helm, kubernetes } = context;
  await kubernetes.apply(namespace('restricted', 'restricted'), namespace('baseline', 'baseline'));
  for (const { values, options } of Object.values(INSTALLATIONS)) {
    const all = await helm.render(values, options);
    assert.is(await admit(context, 'restricted', manifest(all, 'Deployment', 'svc-operator')), 'taken');
    for (const { spec } of all.filter(({ kind }) => kind === 'CronJob'))
      assert.is(await admit(context, 'restricted', spec.jobTemplate), 'taken');
  }
  const agent = manifest(await helm.render(), 'DaemonSet', 'svc-ebpf');
  assert.match(await admit(context, 'baseline', agent), /violates PodSecurity/);
  assert.is(await admit(context, 'svc-system', agent), 'taken');
});

/** Whether a namespace takes a pod of the template, or why not. */
async function admit({ kubernetes }: Cluster, name: string, owner: Manifest): Promise<string> {
  const { serviceAccountName, ...spec } = owner.spec.template.spec;
  await kubernetes.createServiceAccount({ namespace: name, name: serviceAccountName });
  const { status, text } = await kubernetes.request('POST', `/api/v1/namespaces/${name}/pods?dryRun=All`, {
    metadata: { generateName: 'pod-' },
    spec: { ...spec, serviceAccountName },
  });
  return status === 201 ? 'taken' : text;
}

test.run();
