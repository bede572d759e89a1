import * as assert from 'uvu/assert';
import type { FloodRecord } from './flood.ts';

const linesPerSecond = 20;

/** Every attempt was counted, none was lost, and the log told of all without growing with them. */
export function assertComplete({ attempts, counted, lost, hitLines, more, milliseconds }: FloodRecord): void {
  assert.is(counted, attempts);
  assert.is(lost, 0);
  assert.is(hitLines + more, attempts, 'the log accounts for each');
  const seconds = Math.ceil(milliseconds / 1_000) + 3;
  assert.ok(hitLines <= linesPerSecond * seconds, `${hitLines} lines in ${milliseconds} ms`);
}
