import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Kubernetes, startKubernetes } from '../../../support/kubernetes.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { operatorClient } from '../certificates/support/operator-account.ts';
import {
  type OperatorReplica,
  startAdmitting,
  startOperatorReplica,
} from '../certificates/support/operator-replica.ts';

const test = suite('clocks of replicas differ');
export const timeout = 240_000;

const service = 'localhost';
const minuteMs = 60_000;
const configurations = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';

let cluster: Kubernetes;

test.before(async () => {
  cluster = await startKubernetes();
});

test.after(() => cluster?.stop());

/** Renewals so far, and why. */
const renewals = (all: readonly OperatorReplica[]) =>
  all.flatMap(({ log }) => log.filter((line) => line.startsWith('certificates.renewed')));

test('nine minutes either way: one certificate, which the API server takes, whoever leads', async () => {
  const namespace = await cluster.createNamespace();
  const client = await operatorClient(cluster, namespace);
  await cluster.must('POST', configurations, configurationOf(namespace, 'https://localhost:1/mutate'));
  const start = (minutes: number) =>
    startOperatorReplica({
      ...{ client, namespace, serviceName: service, now: () => Date.now() + minutes * minuteMs },
    });
  const ahead = start(9);
  const certificates = await ahead.started;
  const all = [ahead, start(0), start(-9)];
  const served = await Promise.all(all.map(({ started }) => started));
  assert.is(new Set(served.map((one) => one.current().cert)).size, 1);
  const admitting = await startAdmitting(certificates);
  const { webhooks } = configurationOf(namespace, admitting.url);
  await cluster.must('PATCH', `${configurations}/${service}`, { webhooks });
  await waitFor('an admission', () => isAdmitted(namespace), {
    details: () => all.flatMap(({ log }) => log).join('\n'),
  });
  const left = new Set(all);
  while (left.size > 0) {
    const leader = await waitFor('a leader', () => [...left].find(({ elector }) => elector.leading));
    await sleep(2_000);
    assert.is(renewals(all).length, 1, renewals(all).join('\n'));
    assert.ok(await isAdmitted(namespace));
    await leader.stop();
    left.delete(leader);
  }
  admitting.close();
});

async function isAdmitted(namespace: string): Promise<boolean> {
  const body = { metadata: { generateName: 'test-' } };
  return (await cluster.request('POST', `/api/v1/namespaces/${namespace}/configmaps`, body)).status === 201;
}

function configurationOf(namespace: string, url: string) {
  const webhook = {
    ...{ name: 'one.svc.io', failurePolicy: 'Fail', sideEffects: 'None', admissionReviewVersions: ['v1'] },
    clientConfig: { url },
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
  };
  return { metadata: { name: service }, webhooks: [webhook] };
}

test.run();
