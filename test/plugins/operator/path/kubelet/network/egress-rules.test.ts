import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { egressRules, type NetworkedPod } from './egress-rules.ts';

const test = suite('rules of a network that enforces policies');

function pod(namespace: string, address: string, labels: Record<string, string>): NetworkedPod {
  const ports = [{ name: 'https', containerPort: 8200 }];
  return {
    pod: { metadata: { name: address, namespace, labels }, spec: { containers: [{ name: 'main', ports }] } },
    address,
    namespaceLabels: { 'kubernetes.io/metadata.name': namespace },
  };
}

const shop = pod('shop', '10.244.0.1', { app: 'shop' });
const vault = pod('vault', '10.244.0.2', { app: 'vault' });
const others = [pod('vault', '10.244.0.3', { app: 'other' }), pod('shop', '10.244.0.4', { app: 'vault' })];
const all = [shop, vault, ...others];
const policy = (...egress: object[]) => ({
  spec: { podSelector: { matchLabels: { app: 'shop' } }, policyTypes: ['Egress'], egress },
});
const rules = (...egress: object[]) =>
  egressRules(shop, [policy(...egress)], all)?.map((rule) => rule.join(' '));

const inVault = { matchLabels: { 'kubernetes.io/metadata.name': 'vault' } };
const theVault = { matchLabels: { app: 'vault' } };
const on = (port: number | string) => [{ protocol: 'TCP', port }];

test('allow the pods that are selected, on numbers and on ports by their names', () => {
  const to = [{ namespaceSelector: inVault, podSelector: theVault }];
  assert.equal(rules({ to, ports: on(8200) }), ['-d 10.244.0.2/32 -p tcp --dport 8200:8200']);
  assert.equal(rules({ to, ports: on('https') }), ['-d 10.244.0.2/32 -p tcp --dport 8200:8200']);
  assert.equal(rules({ to, ports: on('http') }), []);
  // without a selector of namespaces those of the policy's own
  assert.equal(rules({ to: [{ podSelector: theVault }] }), ['-d 10.244.0.4/32']);
});

test('allow blocks, everything where no peer is named, and nothing where no rule is', () => {
  const blocks = ['192.0.2.0/24', '2001:db8::/64'].map((cidr) => ({ ipBlock: { cidr } }));
  assert.equal(rules({ to: blocks, ports: [{ protocol: 'UDP', port: 53 }] }), [
    '-d 192.0.2.0/24 -p udp --dport 53:53',
  ]);
  assert.equal(rules({}), ['-d 0.0.0.0/0']);
  assert.equal(rules(), []);
});

test('leave alone whom no policy of egress selects', () => {
  assert.is(egressRules(vault, [policy()], all), undefined);
  assert.is(egressRules(shop, [{ spec: { podSelector: {}, policyTypes: ['Ingress'] } }], all), undefined);
  assert.equal(egressRules(shop, [{ spec: { podSelector: {}, egress: [] } }], all), []);
});

test('do not guess', () => {
  const except = [{ ipBlock: { cidr: '10.0.0.0/8', except: ['10.1.0.0/16'] } }];
  assert.throws(() => rules({ to: except }), /exceptions/);
  const matchExpressions = [{ key: 'app', operator: 'Exists' }];
  assert.throws(() => rules({ to: [{ podSelector: { matchExpressions } }] }), /expressions/);
});

test.run();
