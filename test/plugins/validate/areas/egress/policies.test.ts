import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { NetworkPolicy } from '../../../../../src/cluster/egress/contract.ts';
import type { KnownPolicy } from '../../../../../src/cluster/kube/project-objects.ts';
import { type EgressOf, policyProblems } from '../../../../../src/plugins/validate/areas/egress/policies.ts';

const test = suite('egress policies as they are and as they should be');

const policy = (...cidrs: readonly string[]): NetworkPolicy => ({
  ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
  metadata: { name: 'svc-egress-shop', namespace: 'shop', labels: {} },
  spec: {
    podSelector: { matchLabels: { 'svc/protected': 'true' } },
    policyTypes: ['Egress'],
    egress: cidrs.map((cidr) => ({ to: [{ ipBlock: { cidr } }], ports: [{ protocol: 'TCP', port: 443 }] })),
  },
});

const known = ({ metadata, spec }: NetworkPolicy, ours = true): KnownPolicy => ({
  ...{
    key: 'shop/svc-egress-shop',
    uid: '1',
    version: '1',
    labels: {},
    shared: false,
    name: metadata.name,
    namespace: 'shop',
  },
  ...{ hosts: 'bao.example=192.0.2.7', ours, spec },
});

const problems = (found: Partial<EgressOf>) =>
  policyProblems({ namespace: 'shop', pods: [], wanted: [], asNoted: [], policies: [], ...found });

const noted = policy('192.0.2.7/32');

test('nothing is wrong with what svc netpol would write, here or by the names that the policy notes', () => {
  assert.equal(problems({ wanted: [noted], asNoted: [noted], policies: [known(noted)] }), []);
  // DNS does not know the name here
  assert.equal(problems({ wanted: [policy()], asNoted: [noted], policies: [known(noted)] }), []);
});

test('other addresses of a name than DNS gives here are a warning', () => {
  const wanted = policy('192.0.2.99/32');
  const [found, ...more] = problems({ wanted: [wanted], asNoted: [noted], policies: [known(noted)] });
  assert.is(found?.level, 'warning');
  assert.match(found?.message ?? '', /bao\.example=192\.0\.2\.7/);
  assert.equal(more, []);
});

test('one block more is an error, whoever wrote it', () => {
  const wide = policy('192.0.2.7/32', '0.0.0.0/0');
  for (const ours of [true, false]) {
    const [found] = problems({ wanted: [noted], asNoted: [noted], policies: [known(wide, ours)] });
    assert.is(found?.level, undefined);
    assert.match(found?.message ?? '', ours ? /write\.$/ : /not kept by the operator/);
  }
});

test('a missing policy is an error only where protected pods are', () => {
  assert.is(problems({ wanted: [noted], asNoted: [noted] })[0]?.level, 'warning');
  const pods = [{}] as unknown as EgressOf['pods'];
  assert.is(problems({ pods, wanted: [noted], asNoted: [noted] })[0]?.level, 'error');
});

test.run();
