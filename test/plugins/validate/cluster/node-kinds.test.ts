import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { needsAgent, unsupportedKind } from '../../../../src/plugins/validate/areas/cluster.ts';

const test = suite('kinds of nodes');

const kindOf = (labels: Readonly<Record<string, string>>, name = 'node-1') =>
  unsupportedKind({ name, labels });

test('knows unsupported nodes by the labels of their providers', () => {
  assert.is(kindOf({ 'eks.amazonaws.com/compute-type': 'fargate' }), 'Fargate');
  assert.is(kindOf({ type: 'virtual-kubelet' }), 'virtual');
  assert.is(kindOf({ 'virtual-kubelet.io/provider': 'azure' }), 'virtual');
  assert.is(kindOf({ 'cloud.google.com/gke-provisioning': 'autopilot' }), 'Autopilot');
  assert.is(kindOf({ 'cloud.google.com/gke-nodepool': 'pool-1' }, 'gk3-shop-pool-1'), 'Autopilot');
});

test('and takes no other for one', () => {
  assert.is(kindOf({}), undefined);
  assert.is(kindOf({}, 'gk3-of-my-own'), undefined);
  assert.is(kindOf({ 'cloud.google.com/gke-nodepool': 'pool-1' }, 'gke-shop-pool-1'), undefined);
  assert.is(kindOf({ 'eks.amazonaws.com/compute-type': 'ec2' }), undefined);
  assert.is(kindOf({ type: 'gpu' }), undefined);
});

test('wants an agent on Linux nodes that can have one', () => {
  const plain = { name: 'a', labels: {}, kernel: '', os: 'linux', architecture: 'amd64' };
  assert.ok(needsAgent(plain));
  assert.not.ok(needsAgent({ ...plain, os: 'windows' }));
  assert.not.ok(needsAgent({ ...plain, labels: { type: 'virtual-kubelet' } }));
});

test.run();
