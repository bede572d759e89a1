import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { areTooWide, type Block, parseBlock } from '../../../src/cluster/egress/address.ts';
import { resolveInjection } from '../../../src/cluster/injection/resolve/resolve-injection.ts';

const test = suite('blocks that together are too wide');

const blocks = (...texts: readonly string[]): Block[] => texts.map((text) => parseBlock(text) as Block);
const cpuMs = (work: () => void) => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
};

test('count each address once, in any order', () => {
  // 16 of these are a quarter
  const parts = Array.from({ length: 17 }, (_, at) => `${at * 4}.0.0.0/6`);
  const within = ['0.0.0.0/8', '0.1.0.0/16', '4.0.0.1/32', '0.0.0.0/6', '8.0.0.0/7'];
  const order = fc.shuffledSubarray([...parts.slice(0, 16), ...within], { minLength: 21 });
  fc.assert(
    fc.property(order, (texts) => {
      assert.is(areTooWide(blocks(...texts)), false);
      assert.is(areTooWide(blocks(...texts, parts[16] as string)), true);
      assert.is(areTooWide(blocks(...texts, '2000::/6', '2400::/6', '2800::/7')), true);
    }),
  );
});

test('are found soon among thousands', () => {
  const many = blocks(...Array.from({ length: 3_000 }, (_, at) => `10.${at >> 8}.${at & 255}.1/32`));
  const ms = cpuMs(() => assert.is(areTooWide(many), false));
  assert.ok(ms < 1_500, `${ms} ms`);
});

test('are judged soon beside thousands of ServiceConfigs with blocks', () => {
  const configs = Array.from({ length: 1_000 }, (_, at) => ({
    ...{ name: `c${at}`, created: '2026-11-28T00:00:00Z' },
    spec: {
      selector: at === 0 ? {} : { matchLabels: { app: 'none' } },
      egress: Array.from({ length: 64 }, (_, one) => ({ cidr: `10.${at >> 8}.${at & 255}.${one}/32` })),
    },
  }));
  const pod = { metadata: { name: 'p', namespace: 'team' }, spec: { containers: [{ name: 'a' }] } };
  const defaults = { vaultAddress: undefined, development: false } as never;
  const surroundings = { namespace: 'team', namespaceLabels: {}, secretMappings: new Map(), defaults };
  const ms = cpuMs(() => {
    const { kind } = resolveInjection(pod, { ...surroundings, serviceConfigs: configs });
    assert.is(kind, 'deny');
  });
  assert.ok(ms < 500, `${ms} ms`);
});

test.run();
