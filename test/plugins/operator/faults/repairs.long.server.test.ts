import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { manifest } from '../../../support/helm.ts';
import type { Replica } from '../../../support/operator-cluster.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createAdmissionClient } from './support/admissions.ts';
import { admits, page, startBed } from './support/bed.ts';

export const idle = true;

const test = suite('what is deleted or taken away by hand');
export const timeout = 300_000;

const configurations = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
const secrets = '/api/v1/namespaces/svc-system/secrets';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const clusterRole = '/apis/rbac.authorization.k8s.io/v1/clusterroles/svc-operator';

/** Of the leader's looks at the webhook configuration, with what it is spread by. */
const intervalMs = 36_000;

let bed: Awaited<ReturnType<typeof startBed>>;

test.before(async () => {
  bed = await startBed({ replicas: 2 });
});

test.after(() => bed?.stop());

/** What /readyz says, once it says that. */
function reason(replica: Replica, expected: RegExp) {
  return waitFor(`${expected} in /readyz`, async () => {
    const answer = await page(replica, 'readyz');
    return expected.test(answer.text) && answer;
  });
}

const outputs = () => bed.replicas.map((replica) => replica.output().slice(-2_000)).join('\n');

test('a webhook configuration that is made anew gets its authorities back within an interval', async () => {
  const { kubernetes, manifests } = bed;
  await kubernetes.must('DELETE', `${configurations}/svc-operator`);
  await kubernetes.apply(manifest(manifests, 'MutatingWebhookConfiguration', 'svc-operator'));
  const client = createAdmissionClient(kubernetes, bed.namespace);
  const refused = await waitFor('a refusal', async () => {
    const admission = await client.admit();
    return admission.status === 500 && admission;
  }).finally(client.close);
  assert.match(refused.message, /certificate signed by unknown authority/);
  const began = performance.now();
  await admits(kubernetes, bed.namespace);
  const took = performance.now() - began;
  console.log(`caBundle came back after ${(took / 1_000).toFixed(1)} s`);
  assert.ok(took < intervalMs + 10_000, `${took}`);
});

for (const [what, harm] of [
  ['deleted', () => bed.kubernetes.must('DELETE', `${secrets}/svc-operator-tls`)],
  ['emptied', () => bed.kubernetes.must('PATCH', `${secrets}/svc-operator-tls`, { data: null })],
  [
    'corrupted',
    () =>
      bed.kubernetes.must('PATCH', `${secrets}/svc-operator-tls`, {
        data: { 'ca.key': 'Zm9v', 'tls.crt': 'Zm9v' },
      }),
  ],
] as const) {
  test(`the Secret of the authority is ${what}: replaced, and served by all`, async () => {
    const leader = await bed.leader();
    const renewals = leader.events('certificates.renewed').length;
    await harm();
    await waitFor('a renewal', () => leader.events('certificates.renewed').length > renewals, {
      details: outputs,
    });
    await admits(bed.kubernetes, bed.namespace);
    for (const replica of bed.replicas) assert.is((await page(replica, 'readyz')).status, 200);
  });
}

test('a verb that is taken away is told by name, in the log and in /readyz, and made up for', async () => {
  const { kubernetes } = bed;
  const { rules } = await kubernetes.must('GET', clusterRole);
  const less = rules.map((rule: { resources: string[]; verbs: string[] }) =>
    rule.resources.includes('serviceconfigs') ? { ...rule, verbs: ['get'] } : rule,
  );
  await kubernetes.must('PATCH', clusterRole, { rules: less });
  const late = await bed.add();
  const told = await reason(late, /serviceconfigs.*cannot list resource/).finally(() =>
    kubernetes.must('PATCH', clusterRole, { rules }),
  );
  assert.is(told.status, 503);
  assert.match(late.output(), /cannot list resource .{0,3}serviceconfigs/);
  await waitFor('readiness', async () => (await page(late, 'readyz')).status === 200);
});

test('a replica that starts without custom resources waits for them, and says for which', async () => {
  const { kubernetes, manifests } = bed;
  const crds = manifests.filter(({ kind }) => kind === 'CustomResourceDefinition');
  for (const { metadata } of crds) await kubernetes.must('DELETE', `${definitions}/${metadata.name}`);
  await waitFor('their end', async () => {
    return (await kubernetes.request('GET', '/apis/svc.io/v1alpha1/serviceconfigs')).status === 404;
  });
  const late = await bed.add();
  const told = await reason(late, /serviceconfigs.*404/);
  assert.is(told.status, 503);
  assert.is((await page(late, 'healthz')).status, 200);
  await kubernetes.apply(...crds);
  await waitFor('readiness', async () => (await page(late, 'readyz')).status === 200, { details: outputs });
  await admits(kubernetes, bed.namespace);
});

test.run();
