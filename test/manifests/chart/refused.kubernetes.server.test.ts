import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Helm, helm } from '../../support/helm.ts';

const test = suite<{ helm: Helm }>('values that the chart refuses');

test.before(async (context) => {
  context.helm = await helm();
});
test.after(({ helm }) => helm?.remove());

/** Values of a wrong shape, and what the message has to name. */
const WRONG: readonly [object, string][] = [
  [{ replicas: 3 }, 'replicas'],
  [{ operator: { replicas: 3 } }, 'replicas'],
  [{ operator: { replicaCount: 0 } }, '/operator/replicaCount'],
  [{ operator: { replicaCount: 'three' } }, '/operator/replicaCount'],
  [{ operator: { vaultAddress: 'vault.example' } }, '/operator/vaultAddress'],
  [{ operator: { vaultAddress: 'https://user:pw@vault.example' } }, '/operator/vaultAddress'],
  // tokens travel to it: loopback alone is no network, and a name that only begins like it is none
  ...['http://vault.example:8200', 'HTTP://vault.example', 'http://127.0.0.1.example', 'http://10.0.0.1'].map(
    (vaultAddress): [object, string] => [{ operator: { vaultAddress } }, '/operator/vaultAddress'],
  ),
  [{ operator: { vaultCA: '/etc/ca.pem' } }, '/operator/vaultCA'],
  [{ operator: { storeCA: '/etc/ca.pem' } }, '/operator/storeCA'],
  [
    {
      operator: {
        vaultCA:
          '-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----',
      },
    },
    '/operator/vaultCA',
  ],
  ...[' ', '\n', '\t\n  \n'].flatMap((blank): [object, string][] => [
    [{ operator: { vaultCA: blank } }, '/operator/vaultCA'],
    [{ operator: { storeCA: blank } }, '/operator/storeCA'],
    [{ operator: { registryCA: blank } }, '/operator/registryCA'],
    [{ operator: { webhook: { clientCA: blank } } }, '/operator/webhook/clientCA'],
  ]),
  [{ operator: { ha: 'yes' } }, '/operator/ha'],
  [{ operator: { webhook: { failurePolicy: 'ignore' } } }, '/operator/webhook/failurePolicy'],
  [{ operator: { webhook: { timeoutSeconds: 31 } } }, '/operator/webhook/timeoutSeconds'],
  [{ operator: { webhook: { certSecret: 'Not A Name' } } }, '/operator/webhook/certSecret'],
  [{ operator: { webhook: { clientCA: '/etc/ca.pem' } } }, '/operator/webhook/clientCA'],
  [{ operator: { wrapperDelivery: 'carrier' } }, '/operator/wrapperDelivery'],
  [{ operator: { registryMirrors: ['mirror.example'] } }, '/operator/registryMirrors/0'],
  [{ operator: { image: { digest: 'latest' } } }, '/operator/image/digest'],
  [{ operator: { resources: { limits: { memory: '128 MB' } } } }, '/operator/resources/limits/memory'],
  [{ enforceMode: 'true' }, '/enforceMode'],
  [{ reactiveKill: 1 }, '/reactiveKill'],
  [{ ebpf: { maxUnavailable: '0%' } }, '/ebpf/maxUnavailable'],
  [{ imagePullPolicy: 'Sometimes' }, '/imagePullPolicy'],
  [{ networkPolicy: { apiServer: { ports: [] } } }, '/networkPolicy/apiServer/ports'],
  [{ proxy: { gc: { schedule: 'daily' } } }, '/proxy/gc/schedule'],
  [{ proxy: { gc: { upstream: 's3.example' } } }, '/proxy/gc/upstream'],
  [{ proxy: { gc: { minAge: '1d' } } }, '/proxy/gc/minAge'],
  [{ proxy: { gc: { storeCA: '/etc/ca.pem' } } }, '/proxy/gc/storeCA'],
  [{ monitoring: { interval: 'often' } }, '/monitoring/interval'],
];

test('each is named by its path', async ({ helm }) => {
  for (const [values, name] of WRONG)
    assert.ok((await helm.refusal(values)).includes(name), JSON.stringify(values));
});

test('a secrets server without TLS is taken on loopback alone', async ({ helm }) => {
  for (const vaultAddress of ['http://127.0.0.1:8200', 'http://localhost:8200', 'http://[::1]:8200'])
    assert.ok((await helm.render({ operator: { vaultAddress } })).length > 10, vaultAddress);
});

test('errors are all named at once', async ({ helm }) => {
  const text = await helm.refusal({ enforceMode: 1, operator: { ha: 'yes' } });
  assert.match(text, /\/enforceMode/);
  assert.match(text, /\/operator\/ha/);
});

test('failurePolicy Ignore is for development', async ({ helm }) => {
  const webhook = { failurePolicy: 'Ignore' };
  assert.match(await helm.refusal({ operator: { webhook } }), /needs operator\.development=true/);
});

test('so are values that do not go together, all named at once', async ({ helm }) => {
  const text = await helm.refusal({
    operator: { ha: true, leaderElect: false, wrapperDelivery: 'host' },
    ebpf: { enabled: false, requireEnforcement: true },
    enforceMode: false,
  });
  for (const name of ['operator.leaderElect', 'wrapperDelivery: host', 'ebpf.requireEnforcement'])
    assert.ok(text.includes(name), text);
  assert.match(await helm.refusal({ operator: { ha: true, replicaCount: 1 } }), /operator\.ha/);
  const gc = await helm.refusal({ proxy: { gc: { enabled: true, minAge: '23h' } } });
  assert.match(gc, /proxy\.gc: needs upstream or region/);
  assert.match(gc, /proxy\.gc\.minAge/);
});

test('another namespace, an older Kubernetes, and image volumes where there are none', async ({ helm }) => {
  assert.match(await helm.refusal({}, ['--namespace=default']), /--namespace svc-system/);
  assert.match(await helm.refusal({}, ['--kube-version=1.27.9']), /1\.28/);
  const image = { operator: { wrapperDelivery: 'image' } };
  assert.match(await helm.refusal(image, ['--kube-version=1.32.0']), /Kubernetes 1\.33/);
});

test.run();
