import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type CiliumPolicy, ciliumPolicies } from '../../../src/cluster/egress/cilium-policies.ts';
import { generatePolicies } from '../../../src/plugins/netpol/generate.ts';
import { yamlDocuments } from '../../../src/plugins/netpol/index.ts';
import { netpolSettings } from '../../../src/plugins/netpol/settings.ts';
import { resolveSettings } from '../../../src/runtime/settings/resolve.ts';
import { shapes } from '../../cluster/egress/shapes.ts';
import { type Kubernetes, startKubernetes } from '../../support/kubernetes.ts';
import { waitFor } from '../../support/wait-for.ts';
import { requireTool } from '../../testbed/ensure.ts';
import { askCilium } from './ask-cilium.ts';
import { type Choice, choices, clusterOf } from './clusters.ts';
import { fakeCluster } from './fake-cluster.ts';

export const timeout = 180_000;
const test = suite<{ kube: Kubernetes }>('policies for Cilium before Cilium');
const { signal } = new AbortController();
const settings = resolveSettings(netpolSettings, { flags: { flavor: 'cilium' } });

async function policiesFor(choice: Choice): Promise<CiliumPolicy[]> {
  const client = fakeCluster(clusterOf(choice).objects);
  const resolver = async () => ({ addresses: [], failed: false });
  const { policies } = await generatePolicies({ settings, client, resolver, signal });
  return policies as CiliumPolicy[];
}

test.before(async (context) => {
  context.kube = await startKubernetes();
});
test.after(({ kube }) => kube?.stop());

async function assertTaken(policies: readonly CiliumPolicy[]): Promise<void> {
  const answers = await askCilium(policies);
  for (const [index, answer] of answers.entries())
    assert.equal(
      answer,
      { error: '', deniesEgress: true, deniesIngress: false },
      yamlDocuments(policies.slice(index, index + 1)),
    );
}

test('of every combination are taken, and forbid all other egress', async () => {
  const all = await Promise.all([...choices()].map(policiesFor));
  assert.ok(all.length >= 200, `only ${all.length} clusters`);
  await assertTaken(all.flat());
});

test('of random facts are taken, those that allow nothing among them', async () => {
  const nothing = ciliumPolicies({
    ...{ namespace: 'shop', vaults: [], stores: [], apiServer: [], extra: [] },
    dns: { service: undefined, addresses: [] },
  });
  const random = fc.sample(shapes, { numRuns: 500, seed: 20 });
  await assertTaken([...nothing.policies, ...random.flatMap(({ facts }) => ciliumPolicies(facts).policies)]);
});

const usual: Choice = { family: 'dual', vault: 'external', apiServer: 3, dns: 'usual', store: 'external' };
const port = [{ ports: [{ port: '443', protocol: 'TCP' }] }];

/** Rules that are wrong, and what has to be said of each. */
const broken: readonly (readonly [string, object, RegExp])[] = [
  ['two kinds of peer', { toCIDR: ['192.0.2.1/32'], toFQDNs: [{ matchName: 'a.example' }] }, /[Cc]ombining/],
  ['no such entity', { toEntities: ['kube-apiservers'], toPorts: port }, /entity/],
  ['no block', { toCIDR: ['192.0.2.1/33'], toPorts: port }, /CIDR|prefix/],
  ['no name', { toFQDNs: [{ matchName: 'vault example' }], toPorts: port }, /[Ii]nvalid/],
  ['no port', { toPorts: [{ ports: [{ port: '70000', protocol: 'TCP' }] }] }, /port/],
  ['no protocol', { toPorts: [{ ports: [{ port: '443', protocol: 'TLS' }] }] }, /protocol/],
  ['a member that is not known', { toFQDN: [{ matchName: 'a.example' }] }, /unknown field/],
];

test('that are broken are refused, each for what is wrong', async () => {
  const [policy] = (await policiesFor(usual)) as [CiliumPolicy];
  const wrong = broken.map(([, rule]) => ({ ...policy, spec: { ...policy.spec, egress: [rule] } }));
  // no rule at all, and no pods
  const { endpointSelector, ...unselecting } = policy.spec;
  const empty = { ...policy, spec: { endpointSelector, egress: [] } };
  const answers = await askCilium([...wrong, empty, { ...policy, spec: unselecting }]);
  for (const [index, [name, , why]] of broken.entries()) assert.match(answers[index]?.error ?? '', why, name);
  assert.match(answers.at(-2)?.error ?? '', /at least one of/);
  assert.match(answers.at(-1)?.error ?? '', /EndpointSelector/);
});

test("are applied by kubectl where Cilium's own definition is installed", async ({ kube }) => {
  const { bins } = await requireTool('cilium-policy-check');
  const definition = await kube.kubectl(
    ['apply', '-f', '-'],
    readFileSync(bins['definition'] as string, 'utf8'),
  );
  assert.is(definition.status, 0, definition.stderr);
  await waitFor(
    'the definition',
    async () => (await kube.request('GET', '/apis/cilium.io/v2')).status === 200,
  );
  await kube.must('POST', '/api/v1/namespaces', { metadata: { name: 'apps' } });
  const policies = await policiesFor(usual);
  const apply = () => kube.kubectl(['apply', '--validate=strict', '-f', '-'], yamlDocuments(policies));
  const said = async (what: string) => {
    const { stdout, stderr } = await apply();
    const names = policies.map(({ metadata }) => `ciliumnetworkpolicy.cilium.io/${metadata.name} ${what}`);
    assert.equal(stdout.trimEnd().split('\n'), names, stderr);
  };
  await said('created');
  await said('unchanged');
});

test.run();
