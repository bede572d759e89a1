import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  enforcementOf,
  objectionTo,
} from '../../../../../src/plugins/validate/areas/egress/network-plugin.ts';
import { added, changed, fixtureOf } from '../../cluster/fixture-of.ts';
import { verdictOf } from '../../cluster/verdict-of.ts';

const test = suite('network plugins');

const daemonSet = (name: string, container: string, args: readonly string[]) => ({
  ...{ namespace: 'kube-system', name, ready: 1 },
  containers: [{ name: container, args }],
});

const plugin = (name: string, container = 'main', ...args: string[]) =>
  enforcementOf(daemonSet(name, container, args));

test('knows network plugins that enforce policies, and such as do not', () => {
  for (const name of ['calico-node', 'cilium', 'antrea-agent', 'canal', 'anetd', 'kube-router'])
    assert.is(plugin(name), 'enforces', name);
  assert.is(plugin('kube-flannel-ds'), 'ignores');
  assert.is(plugin('aws-node'), 'ignores');
  assert.is(plugin('aws-node', 'aws-eks-nodeagent', '--enable-network-policy=false'), 'ignores');
  assert.is(plugin('aws-node', 'aws-eks-nodeagent', '--enable-network-policy=true'), 'enforces');
  assert.is(plugin('node-exporter'), 'unknown');
});

test('sees by what they are started with that they are told not to', () => {
  const router = (...args: string[]) => plugin('kube-router', 'kube-router', '--run-router=true', ...args);
  assert.is(router('--run-firewall=true'), 'enforces');
  for (const args of [['--run-firewall=false'], ['--run-firewall=0'], ['--run-firewall', '--run-firewall=F']])
    assert.is(router(...args), 'ignores', args.join(' '));
  assert.is(router('--run-firewall=false', '--run-firewall=true'), 'enforces');
  assert.is(plugin('cilium', 'cilium-agent', 'cilium-agent', '--enable-policy', 'never'), 'ignores');
  assert.is(plugin('cilium', 'cilium-agent', '--enable-policy=always'), 'enforces');
  assert.is(plugin('cilium', 'cilium-agent', '--enable-k8s-networkpolicy=false'), 'ignores');
  assert.is(plugin('cilium', 'sh', '-c', 'exec cilium-agent --enable-policy="never" --x'), 'ignores');
  const told = objectionTo(daemonSet('kube-router', 'kube-router', ['--run-firewall=false']));
  assert.match(told ?? '', /by run-firewall=false\.$/);
});

test('sees by the ConfigMap of Cilium that it is told not to, where its arguments say nothing else', async () => {
  const off = { 'enable-policy': 'never' };
  const cilium = (...args: string[]) => daemonSet('cilium', 'cilium-agent', args);
  assert.is(enforcementOf({ ...cilium(), settings: off }), 'ignores');
  assert.is(enforcementOf({ ...cilium(), settings: { 'enable-k8s-networkpolicy': 'false' } }), 'ignores');
  assert.is(enforcementOf({ ...cilium('--enable-policy=default'), settings: off }), 'enforces');
  assert.is(enforcementOf({ ...cilium(), settings: { 'enable-policy': 'default' } }), 'enforces');
  const metadata = { namespace: 'kube-system', name: 'cilium-config' };
  const told = (data: object) =>
    verdictOf('SVC-EGRESS-003', fixtureOf(added({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data })));
  assert.match(
    JSON.stringify(await told(off)),
    /kube-system\/cilium.*configured not to.*enable-policy=never/,
  );
  assert.is((await told({ 'enable-policy': 'default' })).state, 'passed');
});

test('looks for the container that enforces, where a plugin has one of its own', () => {
  assert.is(plugin('weave-net', 'weave-npc'), 'enforces');
  assert.is(plugin('weave-net', 'weave'), 'ignores');
  assert.is(plugin('kube-flannel-ds', 'kube-network-policies'), 'enforces');
  assert.is(plugin('aws-node', 'aws-node', '--enable-network-policy=true'), 'ignores');
  const off = objectionTo(daemonSet('aws-node', 'aws-eks-nodeagent', []));
  assert.match(off ?? '', /aws-eks-nodeagent with --enable-network-policy=true/);
});

const started = (containers: readonly object[], numberReady = 1) =>
  changed('DaemonSet', 'cilium', (one) => ({
    ...{ ...one, metadata: { ...one.metadata, name: 'kube-router' }, status: { numberReady } },
    spec: { template: { spec: { containers } } },
  }));

test('one that is told not to, by its command or its arguments, and one that runs nowhere are errors', async () => {
  const found = async (change: ReturnType<typeof started>) =>
    JSON.stringify(await verdictOf('SVC-EGRESS-003', fixtureOf(change)));
  const off = '--run-firewall=false';
  for (const words of [{ args: [off] }, { command: ['kube-router', off] }])
    assert.match(
      await found(started([{ name: 'main', ...words }])),
      /kube-system\/kube-router.*configured not to/,
    );
  assert.match(await found(started([{ name: 'main' }], 0)), /None of its pods is ready/);
  assert.match(await found(started([{ name: 'main' }])), /"passed".*kube-system\/kube-router/);
});

test.run();
