import * as assert from 'uvu/assert';
import type { Race } from './driver/race.ts';

export const readers = 500;

/** Without an agent each reader gets the secret, or the race proves nothing. */
export function judgeUnprotected(race: Race | undefined, count: number): void {
  assert.is(race?.readers.leaked, count);
  assert.is(race?.spinners.leaked, count);
}

/**
 * No reader got it, not even one of several threads that reads the descriptor before its opening has returned, into
 * memory that outlives it. Each was killed, and reported once: by its opening, or by the read that came before its end.
 */
export function judgeKilled(race: Race | undefined, count: number): void {
  assert.is(race?.tier, 3);
  assert.is(race?.readers.leaked, 0);
  assert.is(race?.readers.killed, count);
  assert.is(race?.spinners.leaked, 0);
  assert.is(race?.spinners.killed, count);
  const { 'environ killed': opened = 0, 'open_descriptor killed': read = 0 } = race?.counted ?? {};
  assert.is(opened + read, 2 * count);
  assert.ok(opened >= count);
}
