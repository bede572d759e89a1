import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ensureBuilt } from '../cli/support/svc.ts';
import { createCertificateAuthority } from '../support/certificates.ts';
import { type Helm, helm } from '../support/helm.ts';
import { type Kubernetes, startKubernetes } from '../support/kubernetes.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { typeInstallPage } from './guides/install-page.ts';

export const timeout = 480_000;

interface Context {
  kubernetes: Kubernetes;
  helm: Helm;
}

const test = suite<Context>('docs/INSTALL.md at an API server without nodes');
const folder = temporaryFolder('install');
const authority = createCertificateAuthority().cert;
/** The end of a namespace is retried at growing intervals. */
const LONGEST_MS = 300_000;
const DEPLOYMENT = '/apis/apps/v1/namespaces/svc-system/deployments/svc-operator';

test.before(async (context) => {
  await ensureBuilt();
  context.helm = await helm();
  context.kubernetes = await startKubernetes({ controllers: true });
});

test.after(async ({ kubernetes, helm }) => {
  await helm?.remove();
  await kubernetes?.stop();
  await folder.remove();
});

/** Fails at the first line that does not end well. */
async function type({ kubernetes }: Context, ...names: readonly string[]): Promise<number> {
  const kubeconfig = kubernetes.kubeconfig();
  const administrator = { kubeconfig, folder: folder.path, authority, longestMs: LONGEST_MS };
  const typed = await typeInstallPage(administrator, ...names);
  const wrong = typed.find(({ status }) => status !== 0);
  assert.is(wrong, undefined, wrong && `$ ${wrong.command}\n${wrong.output}`);
  return typed.length;
}

const operatorImage = async ({ kubernetes }: Context): Promise<string> =>
  (await kubernetes.must('GET', DEPLOYMENT)).spec.template.spec.containers[0].image;

const statusOf = async ({ kubernetes }: Context, path: string): Promise<number> =>
  (await kubernetes.request('GET', path)).status;

const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/serviceconfigs.svc.io';

test('installs with Helm, from the registry of the page and with the authorities', async (context) => {
  assert.is(await type(context, 'install'), 1);
  assert.match(await operatorImage(context), /^registry\.example\/svc\/operator:/);
  for (const name of ['svc-operator-ca', 'svc-operator-store-ca', 'svc-operator-registry-ca']) {
    const path = `/api/v1/namespaces/svc-system/configmaps/${name}`;
    const { data } = await context.kubernetes.must('GET', path);
    assert.is(plain(data['ca.crt']), plain(authority));
  }
});

const plain = (pem: string): string => pem.trim().replaceAll('\r', '');

test('leaves nothing when what an uninstallation keeps is removed', async (context) => {
  const { kubernetes } = context;
  // no agent is there whom the hook could ask
  const uninstall = ['uninstall', 'svc', '--namespace', 'svc-system', '--no-hooks'];
  const { status, stderr } = await context.helm.run(uninstall, kubernetes.kubeconfig());
  assert.is(status, 0, stderr);
  assert.is(await statusOf(context, definition), 200);
  await kubernetes.must('POST', '/api/v1/namespaces', {
    metadata: { name: 'shop', labels: { 'svc/protected': 'true' } },
  });
  const metadata = { name: 'svc-ca', labels: { 'app.kubernetes.io/managed-by': 'svc-operator' } };
  await kubernetes.must('POST', '/api/v1/namespaces/shop/configmaps', { metadata });
  assert.is(await type(context, 'leftovers'), 4);
  assert.is(await statusOf(context, '/api/v1/namespaces/shop/configmaps/svc-ca'), 404);
  assert.is(await statusOf(context, definition), 404);
  assert.is(await statusOf(context, '/api/v1/namespaces/svc-system'), 404);
  const shop = await kubernetes.must('GET', '/api/v1/namespaces/shop');
  assert.is(shop.metadata.labels['svc/protected'], undefined);
});

test('does it again where nothing is left, and installs without Helm', async (context) => {
  assert.is(await type(context, 'without-helm'), 1);
  assert.match(await operatorImage(context), /^registry\.example\/svc\/operator:/);
  assert.is(await statusOf(context, definition), 200);
});

test.run();
