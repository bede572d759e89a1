import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { KubeClient } from '../../../../src/cluster/kube/client.ts';
import type { KnownPolicy } from '../../../../src/cluster/kube/project-objects.ts';
import { createTerm, defaultTuning } from '../../../../src/plugins/operator/egress/term.ts';

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

test.run();
