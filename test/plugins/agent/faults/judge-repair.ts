import * as assert from 'uvu/assert';
import { isBlocked } from './driver/attempts.ts';
import type { LeftRecord, RepairRecord } from './driver/repair.ts';

/** Two intervals of the canary, of 2 s; an emulated machine beside others takes much longer. */
const longestMs = 60_000;

/** Whatever was damaged was noticed, put right in the same tier, and what was covered stayed so. */
export function judgeRepairs({ damages, tier, attackAway }: RepairRecord, expected: readonly string[]): void {
  assert.equal(
    damages.map(({ name }) => name),
    expected,
  );
  for (const { name, repairedMs = Number.POSITIVE_INFINITY, ...repaired } of damages) {
    assert.ok(repairedMs < longestMs, `${name} was put right within ${repairedMs} ms`);
    assert.ok(isBlocked(repaired.attack), `${name}: an attempt afterwards ${repaired.attack}`);
    assert.is(repaired.tier, tier, name);
    assert.is(repaired.stillCovered, true, name);
  }
  assert.ok(isBlocked(attackAway), `once the agent was killed an attempt ${attackAway}`);
}

export function judgeLeft(left: LeftRecord): void {
  assert.is(left.tier, '1');
  assert.is(left.next, '2');
  assert.match(left.reason, /^lsm: /);
  assert.ok(left.leftMs < longestMs, `it took ${left.leftMs} ms`);
  assert.is(left.attack, 'denied');
  assert.is(left.stillCovered, true);
}
