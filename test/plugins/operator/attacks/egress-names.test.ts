import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { NetworkPolicy } from '../../../../src/cluster/egress/contract.ts';
import { parseHosts } from '../../../../src/cluster/egress/hosts.ts';
import { type KubeClient, KubeError, type KubeRequest } from '../../../../src/cluster/kube/client.ts';
import type { NameAnswer, NameResolver } from '../../../../src/cluster/kube/name-book.ts';
import type { KnownPolicy } from '../../../../src/cluster/kube/project-objects.ts';
import { createWorkQueue } from '../../../../src/cluster/kube/work-queue.ts';
import { createReconcile, type LookOptions } from '../../../../src/plugins/operator/egress/reconcile.ts';
import { createTerm, defaultTuning } from '../../../../src/plugins/operator/egress/term.ts';
import { fakeClient } from '../../../support/fake-client.ts';
import { waitFor } from '../../../support/wait-for.ts';

const test = suite('names that a planted policy claims to know');
const { signal } = new AbortController();
const to = { host: 'vault.example.com', port: 443 };

function termWith() {
  const asked: string[] = [];
  const resolver = async (host: string) => {
    asked.push(host);
    return { addresses: ['192.0.2.1'], failed: false };
  };
  const term = createTerm({} as KubeClient, resolver, { ...defaultTuning, now: () => 0 }, () => {});
  const addressesIn = async (namespace: string) => {
    const endpoint = await term.addresses.endpointOf(to, namespace, signal);
    return endpoint.kind === 'external' ? endpoint.addresses : undefined;
  };
  return { term, asked, addressesIn };
}

/** As somebody may write it who may write policies in one namespace. */
const planted = {
  ...{ key: 'mine/svc-egress-mine', name: 'svc-egress-mine', namespace: 'mine', uid: 'u', version: '1' },
  ...{ ours: true, shared: false, labels: {}, spec: {}, hosts: 'vault.example.com=198.51.100.66' },
} satisfies KnownPolicy;

test('open nothing in other namespaces', async () => {
  const { term, addressesIn } = termWith();
  term.adopt(planted);
  assert.equal(await addressesIn('others'), ['192.0.2.1']);
  assert.equal(await addressesIn('mine'), ['192.0.2.1', '198.51.100.66']);
});

test('and DNS is still asked once for all of them', async () => {
  const { asked, addressesIn } = termWith();
  for (const namespace of ['one', 'two', 'three']) await addressesIn(namespace);
  assert.equal(asked, ['vault.example.com']);
});

/** The egress policies of namespaces, each with as many hosts in `spec.egress` of its ServiceConfigs. */
function policiesOf(hosts: Readonly<Record<string, readonly string[]>>, resolver: NameResolver) {
  const applied: string[] = [];
  const request = async <T>({ method = 'GET', path }: KubeRequest) => {
    if (method === 'PATCH') applied.push(path.split('/').at(-1) ?? '');
    else if (/slices$|services$/.test(path)) return { metadata: { resourceVersion: '1' }, items: [] } as T;
    else throw new KubeError('KUBE_NOT_FOUND', path);
    return {} as T;
  };
  const client = fakeClient(request);
  const tuning = { ...defaultTuning, now: () => performance.now() };
  const vault = { address: 'https://192.0.2.7:8200' };
  const configsOf = (namespace: string) => [
    { spec: { selector: {}, vault, egress: (hosts[namespace] ?? []).map((host) => ({ host })) } },
  ];
  const reconcile = createReconcile({
    tuning,
    deps: {
      ...{ client, log: { info: () => {} }, defaults: {}, namespace: 'svc-system' },
      cluster: { namespaces: { get: (name: string) => ({ name, labels: {}, terminating: false }) } },
    },
    indexes: { pods: { in: () => [] }, serviceConfigs: { in: configsOf } },
    policies: { get: () => undefined, values: () => [], onChange: () => {} },
  } as unknown as LookOptions);
  return { applied, reconcile, term: createTerm(client, resolver, tuning, () => {}) };
}

test('that no server answers for keep no other namespace without its policy', async () => {
  const stop = new AbortController();
  const teams = Array.from({ length: 12 }, (_, at) => `team-${at}`);
  const hostsOf = (team: string) => Array.from({ length: 64 }, (_, at) => `h${at}.${team}.silent.example`);
  const asked = new Set<string>();
  const { applied, reconcile, term } = policiesOf(
    Object.fromEntries(teams.map((team) => [team, hostsOf(team)])),
    (host) => {
      asked.add(host);
      return new Promise(() => {});
    },
  );
  const queue = createWorkQueue({
    signal: stop.signal,
    work: async (namespace) => {
      const { next } = await reconcile(namespace, term, stop.signal);
      return next !== undefined && 'requeueAfterMs' in next ? next.requeueAfterMs : 'done';
    },
  });
  for (const team of teams) queue.add(team);
  await waitFor('questions', () => asked.size >= 64);
  queue.add('victim');
  await waitFor('the policy', () => applied.includes('svc-egress-victim'), { timeoutMs: 20_000 });
  await waitFor('all others', () => new Set(applied).size === teams.length + 1, { timeoutMs: 20_000 });
  stop.abort();
  assert.ok(asked.size <= teams.length * 16, `${asked.size} names are asked for at a time`);
});

/** A namespace's policy under leaders that follow each other; each minute of a leader is one reconciliation. */
function leaders(hours: number) {
  const clock = { now: 0 };
  let answer: NameAnswer = { addresses: [], failed: false };
  let known: KnownPolicy | undefined;
  let writes = 0;
  const client = fakeClient(async <T>({ method = 'GET', path, body }: KubeRequest) => {
    if (/slices$|services$/.test(path)) return { metadata: { resourceVersion: '1' }, items: [] } as T;
    if (method !== 'PATCH') throw new KubeError('KUBE_NOT_FOUND', path);
    const { metadata, spec } = body as NetworkPolicy;
    writes += 1;
    known = {
      ...{ key: 'team/svc-egress-team', name: metadata.name, namespace: 'team', uid: 'u', version: '1' },
      ...{ ours: true, shared: false, labels: metadata.labels, spec },
      hosts: metadata.annotations?.['svc/egress-hosts'],
    };
    return {} as T;
  });
  const now = () => clock.now;
  const tuning = { ...defaultTuning, now, date: () => 1_764_000_000_000 + clock.now };
  const vault = { address: 'https://v.example' };
  const look = createReconcile({
    tuning,
    deps: {
      ...{ client, log: { info: () => {} }, defaults: {}, namespace: 'svc-system' },
      cluster: { namespaces: { get: (name: string) => ({ name, labels: {}, terminating: false }) } },
    },
    indexes: { pods: { in: () => [] }, serviceConfigs: { in: () => [{ spec: { selector: {}, vault } }] } },
    policies: {
      get: (key: string) => (key.endsWith('-store') ? undefined : known),
      values: () => [],
      onChange: () => {},
    },
  } as unknown as LookOptions);
  return {
    lead: async (given: NameAnswer, minutes: number[] = [0, 1, 2]) => {
      answer = given;
      const term = createTerm(
        client,
        async () => answer,
        tuning,
        () => {},
      );
      const began = clock.now;
      for (const minute of minutes) {
        clock.now = began + minute * 60_000;
        await look('team', term, signal);
      }
      clock.now = began + hours * 3_600_000;
      return [...parseHosts(known?.hosts ?? '').values()].flat();
    },
    writes: () => writes,
  };
}

test('lose an address a day after they pointed there, however often the leader changes', async () => {
  for (const hours of [0.25, 5, 20]) {
    const { lead } = leaders(hours);
    assert.equal(await lead({ addresses: ['192.0.2.1'], failed: false }), ['192.0.2.1']);
    for (let sum = 0; sum + hours < 24; sum += hours)
      assert.equal(await lead({ addresses: ['192.0.2.2'], failed: false }), ['192.0.2.1', '192.0.2.2']);
    for (let more = 0; more < 24; more += 1) await lead({ addresses: ['192.0.2.2'], failed: false });
    assert.equal(await lead({ addresses: ['192.0.2.2'], failed: false }), ['192.0.2.2'], `${hours} h`);
  }
});

test('have their policy written a few times a day while they turn through addresses', async () => {
  const { lead, writes } = leaders(48);
  const all = Array.from({ length: 8 }, (_, at) => `198.51.100.${at}`);
  await lead({ addresses: all, failed: false });
  const before = writes();
  const addresses: string[] = [];
  const turning = {
    failed: false,
    get addresses() {
      addresses.splice(0, 4, ...[...all].sort(() => Math.random() - 0.5).slice(0, 4));
      return [...addresses];
    },
  };
  await lead(
    turning,
    Array.from({ length: 24 * 60 }, (_, minute) => minute),
  );
  assert.ok(writes() - before <= 12, `${writes() - before} in a day`);
});

test.run();
