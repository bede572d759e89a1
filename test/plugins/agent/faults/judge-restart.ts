import * as assert from 'uvu/assert';
import type { RestartRecord } from './driver/restart.ts';

/** A reader got nothing while agents came and went, and nothing that was covered was forgotten. */
export function judgeReader({ reader, unprotected }: RestartRecord, blocked: 'denied' | 'killed'): void {
  assert.is(unprotected.leaked, unprotected.attempts, 'a reader can read what nobody protects');
  assert.is(reader.leaked, 0);
  assert.is(reader[blocked], reader.attempts);
  assert.ok(reader.attempts >= 100, `${reader.attempts} attempts`);
}

/** @param tiers of each agent that came after another */
export function judgeRestarts(
  { restarts }: RestartRecord,
  tiers: readonly string[],
  blocked: 'denied' | 'killed',
): void {
  assert.equal(
    restarts.map(({ tier }) => tier),
    tiers,
  );
  for (const { awayMs, signal, tier, late, ...restarted } of restarts) {
    const which = `after ${signal}, to tier ${tier}, away for ${awayMs} ms`;
    const isFine = { childAway: blocked, childAfter: blocked, attackAway: blocked, reportedAfter: 1 };
    assert.equal(restarted, { ...isFine, forgotten: [], sets: 1 }, which);
    if (late !== undefined) assert.equal(late, { answeredAway: false, covered: true }, which);
  }
  assert.ok(restarts.some(({ late }) => late !== undefined));
}
