import * as assert from 'uvu/assert';
import type { ForksRecord } from './driver/forks.ts';
import type { FullRecord } from './driver/full.ts';
import type { KeysRecord } from './driver/keys.ts';

/** Who is covered follows the process, not its number, its leader or its program. */
export function judgeKeys(keys: KeysRecord, blocked: 'denied' | 'killed'): void {
  assert.equal(keys, {
    ...{ reusedPid: 'leaked', reusedCovered: false },
    ...{ afterThreadExec: blocked, leaderGone: blocked, childOfLeaderless: blocked },
  });
}

/**
 * The table holds no more afterwards than before.
 * @param mayStay of the children, on a kernel that does not always tell of the end of a task
 */
export function judgeForks({ before, after, children, lost }: ForksRecord, mayStay = 0): void {
  assert.ok(after <= before + mayStay, `${before} entries before ${children} children, ${after} after`);
  assert.is(lost, 0);
}

/** Where the table is full nobody is left uncovered, newcomers are refused, and it works again when it has room. */
export function judgeFull(full: FullRecord): void {
  assert.ok(full.filled > 65_000, `${full.filled} made-up entries`);
  assert.is(full.child, 'denied');
  assert.is(full.childHasEntry, false);
  assert.is(full.cgroupsAdded, 1);
  assert.is(full.cgroupIsTheChilds, true);
  assert.is(full.toldNewcomer, true);
  assert.is(full.newcomerWaits, true);
  assert.ok(full.lost > 0, 'the loss is in the metrics');
  assert.is(full.refusalAfter, undefined);
  assert.is(full.childAfter, 'denied');
  assert.is(full.childAfterHasEntry, true);
}
