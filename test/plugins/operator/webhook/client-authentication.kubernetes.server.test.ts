import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCertificateAuthority, type Identity } from '../../../support/certificates.ts';
import { manifest } from '../../../support/helm.ts';
import { type OperatorCluster, startOperatorCluster } from '../../../support/operator-cluster.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createAdmissionClient } from '../faults/support/admissions.ts';
import { reviewOf } from './support/review-of.ts';

const test = suite('an API server that has to say who it is');
export const timeout = 240_000;
const authority = createCertificateAuthority('API servers');
const vaultAddress = 'https://vault.example:8200';
const values = { operator: { vaultAddress, webhook: { clientCA: authority.cert } } };

/** With the authority where the chart's config map would have it. */
async function inCluster(identity: Identity, use: (cluster: OperatorCluster) => Promise<void>) {
  const folder = temporaryFolder('client-ca');
  const path = join(folder.path, 'ca.crt');
  writeFileSync(path, authority.cert);
  const cluster = await startOperatorCluster({
    ...{ values, env: { SVC_OPERATOR_WEBHOOK_CLIENT_CA_FILE: path } },
    webhookClients: { 'svc-operator.svc-system.svc': identity },
  });
  try {
    await use(cluster);
  } finally {
    await cluster.stop();
    await folder.remove();
  }
}

async function admission({ kubernetes }: OperatorCluster, says: RegExp): Promise<void> {
  const client = createAdmissionClient(kubernetes, await kubernetes.createNamespace());
  let last = '';
  const expected = async () => {
    const { injected, message } = await client.admit();
    last = injected ? 'injected' : message;
    return says.test(last);
  };
  await waitFor(String(says), expected, { details: () => last }).finally(client.close);
}

/** As somebody who trusts the webhook, whatever it shows. */
function ask(address: string): Promise<number | 'not answered'> {
  return new Promise((resolve) => {
    const options = { method: 'POST', rejectUnauthorized: false, agent: false };
    request(`https://${address}/mutate`, options, ({ statusCode = 0 }) => resolve(statusCode))
      .once('error', () => resolve('not answered'))
      .end(JSON.stringify(reviewOf({ spec: { containers: [] } })));
  });
}

test('is answered, and nobody else in its network is', () =>
  inCluster(authority.issue({ commonName: 'kube-apiserver' }), async (cluster) => {
    const map = manifest(cluster.manifests, 'ConfigMap', 'svc-operator-webhook-client-ca');
    assert.is(map.data['ca.crt'].trim(), authority.cert.replaceAll('\r', '').trim());
    await admission(cluster, /^injected$/);
    const [replica] = cluster.replicas;
    assert.is(await ask(replica?.started['webhook'] ?? ''), 'not answered');
    assert.ok(await waitFor('the log', () => replica?.events('webhook.stranger').length));
  }));

test('is refused with a certificate of somebody else, and its pods with it', () =>
  inCluster(createCertificateAuthority('others').issue({ commonName: 'kube-apiserver' }), async (cluster) => {
    const [replica] = cluster.replicas;
    await waitFor('a call', async () => {
      await admission(cluster, /failed calling webhook/);
      return replica?.events('webhook.stranger').length;
    });
    assert.equal(replica?.events('webhook.injected'), []);
  }));

test.run();
