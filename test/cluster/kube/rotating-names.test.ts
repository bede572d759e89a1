import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createNameBook } from '../../../src/cluster/kube/name-book.ts';
import { defaultTuning } from '../../../src/plugins/operator/egress/term.ts';

const test = suite('a store whose name turns through many addresses');
const { signal } = new AbortController();
const host = 's3.eu-central-1.example.com';
const [second, hour] = [1_000, 3_600_000];

/** As a large store answers: eight of 400 addresses, others every five seconds. */
function rotatingName(clock: { now: number }) {
  let drawn = { at: Number.NEGATIVE_INFINITY, addresses: [] as string[] };
  let seed = 7;
  const next = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 31;
  };
  return () => {
    const at = Math.floor(clock.now / (5 * second));
    if (at !== drawn.at) {
      const addresses = Array.from({ length: 8 }, () => {
        const one = Math.floor(next() * 400);
        return `198.51.${100 + (one >> 8)}.${one & 255}`;
      });
      drawn = { at, addresses };
    }
    return drawn.addresses;
  };
}

/** The share of answers that pods get and that the policy does not list, after `hours` of a look a minute. */
async function shareUnlisted(hours: number, keepMs: number): Promise<number> {
  const clock = { now: 0 };
  const answer = rotatingName(clock);
  const resolver = async () => ({ addresses: answer(), failed: false });
  const names = createNameBook({ resolver, now: () => clock.now, keepMs, freshMs: defaultTuning.freshMs });
  let listed = new Set<string>();
  let [asked, unlisted] = [0, 0];
  for (; clock.now < hours * hour; clock.now += 5 * second) {
    if (clock.now % defaultTuning.refreshMs === 0) listed = new Set(await names.addressesOf(host, signal));
    if (clock.now < (hours - 1) * hour) continue;
    for (const one of answer()) {
      asked += 1;
      if (!listed.has(one)) unlisted += 1;
    }
  }
  return unlisted / asked;
}

test('is learnt over a day: after six hours few answers are not in the policy', async () => {
  const share = await shareUnlisted(6, defaultTuning.keepMs);
  assert.ok(share < 0.02, `${(share * 100).toFixed(1)} % of the answers are not listed`);
});

test('was not in ten minutes, whatever the policy has run before', async () => {
  assert.ok((await shareUnlisted(6, 600_000)) > 0.4);
});

test.run();
