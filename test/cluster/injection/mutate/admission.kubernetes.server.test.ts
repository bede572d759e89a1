import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type PodSecurityLevel, podSecurityLevels } from '../../../../src/cluster/injection/contract.ts';
import { mutatePod } from '../../../../src/cluster/injection/mutate/mutate-pod.ts';
import type { Pod } from '../../../../src/cluster/kube/pod.ts';
import { type Kubernetes, startKubernetes } from '../../../support/kubernetes.ts';
import { defaultsOf, type PodCase, planOf, pod, surroundingsOf } from './pods/case.ts';
import { podCases } from './pods/index.ts';

const admission = suite('mutated pods at a real API server');

let kubernetes: Kubernetes;
const namespaces = new Map<PodSecurityLevel, string>();

admission.before(async () => {
  kubernetes = await startKubernetes();
  for (const level of podSecurityLevels) {
    namespaces.set(level, await kubernetes.createNamespace({ 'pod-security.kubernetes.io/enforce': level }));
  }
});
admission.after(() => kubernetes.stop());

const mutate = (one: PodCase, from: Pod = one.pod) =>
  mutatePod(from, planOf(one), defaultsOf(one), surroundingsOf(one));

/** Without storing it: names and quotas do not matter, and admission is the same. */
const create = (level: PodSecurityLevel, body: Pod) =>
  kubernetes.request('POST', `/api/v1/namespaces/${namespaces.get(level)}/pods?dryRun=All`, body);

admission('the levels are enforced', async () => {
  const onHost = pod({ volumes: [{ name: 'host', hostPath: { path: '/' } }] });
  assert.is((await create('baseline', onHost)).status, 403);
  assert.is((await create('restricted', pod())).status, 403);
  assert.is((await create('privileged', onHost)).status, 201);
});

for (const one of podCases.filter(({ denied, offline }) => denied === undefined && offline === undefined)) {
  admission(one.name, async () => {
    const mutation = mutate(one);
    if (mutation.kind === 'deny') throw new Error(mutation.errors.join('\n'));
    const { status, text } = await create(one.level ?? 'baseline', mutation.pod);
    assert.is(status, 201, text);
    // what the API server has filled in must not look like the work of somebody else
    const admitted = JSON.parse(text) as Pod;
    const again = mutate(one, admitted);
    assert.equal(again.kind === 'pod' ? again.pod : again.errors, admitted);
  });
}

admission.run();
