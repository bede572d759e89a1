import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { EgressFacts } from '../../../src/cluster/egress/contract.ts';
import { egressPolicies } from '../../../src/cluster/egress/policies.ts';
import { type Connection, mayConnect, type PolicyPod } from '../../support/network-policy.ts';
import { type Shape, shapes } from './shapes.ts';

const test = suite('egress policies of generated clusters');
const numRuns = 100;

const caller = (labels: Record<string, string>): PolicyPod => ({
  namespace: 'apps',
  labels,
  ips: [],
  named: {},
});
const plain = caller({ app: 'a' });
const wrapped = caller({ app: 'a', 'svc/protected': 'true' });
const withProxy = caller({ app: 'a', 'svc/protected': 'true', 'svc/proxy': 'true' });

/** Every address of the shape and its neighbours, on every port of it and neighbours, by both protocols. */
function* probes({ facts, pods }: Shape): Generator<Omit<Connection, 'from'>> {
  const text = JSON.stringify([facts, pods]);
  const mentioned = text.match(/\d+\.\d+\.\d+\.\d+(?!\/)|(2001:db8|fd00:1)::\d+:\d+/g) ?? [];
  const addresses = new Set([...mentioned, ...mentioned.map((each) => each.replace(/\d+$/, '77'))]);
  const ports = [22, 53, 54, 80, 443, 5353, 6443, 8200, 8443];
  for (const ip of addresses) {
    for (const to of [undefined, ...pods.filter(({ ips }) => ips.includes(ip))]) {
      for (const port of ports) {
        for (const protocol of ['TCP', 'UDP']) yield { ip, to, port, protocol };
      }
    }
  }
}

test('allow what is meant, and nothing more', () => {
  let allowed = 0;
  fc.assert(
    fc.property(shapes, (shape) => {
      const { policies } = egressPolicies(shape.facts);
      for (const probe of probes(shape)) {
        const main = { ...probe, from: wrapped };
        const both = { ...probe, from: withProxy };
        const note = JSON.stringify(probe);
        assert.is(mayConnect(policies, main), shape.main(main), note);
        assert.is(mayConnect(policies, both), shape.main(both) || shape.store(both), `proxy ${note}`);
        assert.ok(mayConnect(policies, { ...probe, from: plain }), `not protected ${note}`);
        if (shape.main(main)) allowed += 1;
      }
    }),
    { numRuns },
  );
  assert.ok(allowed > numRuns, `only ${allowed} connections were allowed at all`);
});

test('are the same in whatever order the facts come', () => {
  fc.assert(
    fc.property(shapes, fc.infiniteStream(fc.nat()), ({ facts }, random) => {
      const other = shuffled(facts, () => random.next().value as number);
      assert.is(JSON.stringify(egressPolicies(other)), JSON.stringify(egressPolicies(facts)));
    }),
    { numRuns },
  );
});

test('are the same when facts come twice', () => {
  fc.assert(
    fc.property(shapes, ({ facts }) => {
      const twice = {
        ...facts,
        vaults: [...facts.vaults, ...facts.vaults],
        extra: [...facts.extra, ...facts.extra],
      };
      assert.equal(egressPolicies(twice), egressPolicies(facts));
    }),
    { numRuns },
  );
});

function shuffled<T>(value: T, random: () => number): T {
  if (Array.isArray(value)) {
    const ranked = value.map((each) => [random(), shuffled(each, random)] as const);
    return ranked.sort(([one], [other]) => one - other).map(([, each]) => each) as T;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(
    ([key, each]) => [random(), key, shuffled(each, random)] as const,
  );
  return Object.fromEntries(
    entries.sort(([one], [other]) => one - other).map(([, key, each]) => [key, each]),
  ) as T;
}

test('name neither everything nor a pod of every label', () => {
  fc.assert(
    fc.property(
      shapes,
      fc.constantFrom('0.0.0.0/0', '::/0', '0.0.0.0/1', '::ffff:0:0/96'),
      ({ facts }, cidr) => {
        const extra: EgressFacts['extra'] = [
          ...facts.extra,
          { cidr },
          { host: 'x.example', addresses: ['0.0.0.0', '::'] },
        ];
        const { policies, warnings } = egressPolicies({ ...facts, extra });
        for (const { to, ports } of policies.flatMap(({ spec }) => spec.egress)) {
          assert.ok(to.length > 0 && ports.length > 0);
          for (const peer of to) {
            if ('ipBlock' in peer) assert.ok(Number(peer.ipBlock.cidr.split('/')[1]) >= 8);
            else assert.ok(Object.keys(peer.podSelector.matchLabels).length > 0);
          }
        }
        assert.ok(warnings.some((text) => text.includes(cidr)));
      },
    ),
    { numRuns },
  );
});

test.run();
