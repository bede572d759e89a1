import * as assert from 'uvu/assert';
import type { FloodRecord } from './flood.ts';

const linesPerSecond = 20;

/**
 * Every attempt was counted, none was lost, and the log told of all without growing with them.
 * @param others attempts of other processes: on tier 3 the agent sees those of the whole host
 */
export function assertComplete(
  { attempts, earlier, counted, lost, hitLines, more, milliseconds }: FloodRecord,
  others = 0,
): void {
  assert.is(earlier + counted, attempts + others);
  assert.is(lost, 0);
  assert.is(hitLines + more, attempts + others, 'the log accounts for each');
  const seconds = Math.ceil(milliseconds / 1_000) + 3;
  assert.ok(hitLines <= linesPerSecond * seconds, `${hitLines} lines in ${milliseconds} ms`);
}
