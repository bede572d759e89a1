import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Helm, helm, type Manifest, manifest } from '../../support/helm.ts';
import { mayConnect, type PolicyPod } from '../../support/network-policy.ts';

interface Rendered {
  helm: Helm;
  policies: readonly Manifest[];
  operator: PolicyPod;
  agent: PolicyPod;
}

const test = suite<Rendered>('network policies of svc-system');

const elsewhere = '203.0.113.7';
const podIn = (namespace: string, labels: PolicyPod['labels'], ip: string): PolicyPod => ({
  ...{ namespace, labels, ips: [ip], named: {} },
});

test.before(async (context) => {
  context.helm = await helm();
  Object.assign(context, await rendered(context.helm));
});
test.after(({ helm }) => helm?.remove());

async function rendered(helm: Helm, values: object = {}): Promise<Omit<Rendered, 'helm'>> {
  const all = await helm.render(values);
  const labelsOf = (kind: string, name: string) => manifest(all, kind, name).spec.template.metadata.labels;
  return {
    policies: all.filter(({ kind }) => kind === 'NetworkPolicy'),
    operator: podIn('svc-system', labelsOf('Deployment', 'svc-operator'), '10.1.0.1'),
    agent: podIn('svc-system', labelsOf('DaemonSet', 'svc-ebpf'), '10.1.0.2'),
  };
}

/** Whether a pod of svc-system reaches a port of another pod, or of an address that is no pod's. */
function reaches({ policies }: Pick<Rendered, 'policies'>, from: PolicyPod, port: number, to?: PolicyPod) {
  const ip = to?.ips[0] ?? elsewhere;
  return mayConnect(policies, { from, to, ip, protocol: 'TCP', port });
}

test('the operator reaches the API server, registries and DNS, on their ports', (context) => {
  const { operator } = context;
  for (const port of [443, 6443, 53]) assert.ok(reaches(context, operator, port), String(port));
  for (const port of [22, 80, 8199, 8200]) assert.not.ok(reaches(context, operator, port), String(port));
});

test('the agent reaches the operator at 8199, and the API server', (context) => {
  const { agent, operator } = context;
  assert.ok(reaches(context, agent, 8199, operator));
  assert.not.ok(reaches(context, agent, 8199));
  assert.not.ok(reaches(context, agent, 8080, operator));
  for (const port of [443, 6443]) assert.ok(reaches(context, agent, port), String(port));
});

test('addresses that are named are the only ones', async ({ helm }) => {
  const networkPolicy = {
    apiServer: { cidrs: ['10.0.0.1/32'], ports: [6443] },
    registries: { cidrs: ['192.0.2.0/24'], ports: [443] },
  };
  const narrow = await rendered(helm, { networkPolicy });
  const to = (ip: string, port: number) =>
    mayConnect(narrow.policies, { from: narrow.operator, to: undefined, ip, protocol: 'TCP', port });
  assert.ok(to('10.0.0.1', 6443));
  assert.ok(to('192.0.2.9', 443));
  assert.not.ok(to(elsewhere, 443));
  assert.not.ok(to('10.0.0.2', 6443));
});

/** Ports that are open to a caller on a pod. */
function openTo({ policies }: Rendered, pod: PolicyPod, caller: PolicyPod | undefined): readonly number[] {
  const rules = policies
    .filter(({ spec }) => spec.policyTypes.includes('Ingress') && selects(spec.podSelector, pod.labels))
    .flatMap(({ spec }) => spec.ingress);
  return rules
    .filter(
      ({ from }) =>
        from === undefined || (caller !== undefined && from.some((peer: Manifest) => isPeer(peer, caller))),
    )
    .flatMap(({ ports }) => ports.map(({ port }: Manifest) => port))
    .sort();
}

const selects = ({ matchLabels = {} }: Manifest, labels: PolicyPod['labels']): boolean =>
  Object.entries(matchLabels).every(([name, value]) => labels[name] === value);

const isPeer = ({ namespaceSelector, podSelector = {} }: Manifest, { namespace, labels }: PolicyPod) =>
  (namespaceSelector !== undefined || namespace === 'svc-system') && selects(podSelector, labels);

test('the webhook is open to all, the metrics to pods, 8199 to agents', (context) => {
  const { operator, agent } = context;
  assert.equal(openTo(context, operator, undefined), [9443]);
  assert.equal(openTo(context, operator, podIn('monitoring', {}, '10.1.9.9')), [8080, 9443]);
  assert.equal(openTo(context, operator, agent), [8080, 8199, 9443]);
  assert.equal(openTo(context, operator, podIn('shop', agent.labels, '10.1.9.9')), [8080, 9443]);
});

test('of an agent only the metrics are open', (context) => {
  assert.equal(openTo(context, context.agent, undefined), []);
  assert.equal(openTo(context, context.agent, podIn('monitoring', {}, '10.1.9.9')), [9090]);
});

test.run();
