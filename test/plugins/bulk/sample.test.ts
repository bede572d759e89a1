import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { RehearsalSample } from '../../../src/plugins/bulk/engine/sample.ts';

const test = suite('the sample of a rehearsal');

const entry = fc.record({
  stored: fc.nat(1_000),
  modified: fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
});

test('it is bounded, has each object once, and the oldest, the newest and the largest of all', () => {
  fc.assert(
    fc.property(fc.array(entry), fc.integer({ min: 1, max: 20 }), fc.gen(), (listed, size, gen) => {
      const random = (below: number) => gen(fc.integer, { min: 0, max: below - 1 });
      const sample = new RehearsalSample(size, random);
      for (const one of listed) sample.add(one);
      const { entries, seen } = sample;
      assert.is(seen, listed.length);
      assert.ok(entries.length >= Math.min(size, listed.length) && entries.length <= size + 3);
      assert.is(new Set(entries).size, entries.length);
      assert.ok(entries.every((one) => listed.includes(one)));
      if (listed.length === 0) return;
      const dates = listed.map(({ modified }) => modified).sort();
      const has = (is: (one: (typeof listed)[0]) => boolean) => assert.ok(entries.some(is));
      has(({ modified }) => modified === dates[0]);
      has(({ modified }) => modified === dates.at(-1));
      has(({ stored }) => stored === Math.max(...listed.map((one) => one.stored)));
    }),
  );
});

test('each object is as likely as each other', () => {
  const listed = Array.from({ length: 20 }, (_, at) => ({ at, stored: 1, modified: 'x' }));
  const times = new Array<number>(20).fill(0);
  let state = 1;
  const random = (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  const rounds = 20_000;
  for (let round = 0; round < rounds; round++) {
    const sample = new RehearsalSample<(typeof listed)[0]>(5, random);
    for (const one of listed) sample.add(one);
    for (const { at } of sample.entries) times[at] = (times[at] ?? 0) + 1;
  }
  // The first is always among them: it is the oldest, the newest and the largest of equals
  assert.is(times[0], rounds);
  for (const count of times.slice(1)) assert.ok(Math.abs(count / rounds - 0.25) < 0.02, String(times));
});

test.run();
