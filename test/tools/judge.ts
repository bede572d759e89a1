import * as assert from 'uvu/assert';
import type * as bypass from '../support/bypass.ts';

/** Kernels of these years do not have them any more. */
export const GIVEN_UP = [
  'opened-environ-splice',
  'opened-environ-sendfile',
  'opened-environ-copy-file-range',
  'dev-kmem',
];

/** Each leaks, but for those that are not there. */
export function judgeAccessPaths(
  results: readonly bypass.AccessPathResult[],
  unavailable: readonly string[],
): void {
  const details = results.map((each) => JSON.stringify(each)).join('\n');
  const found = results.map(({ path, outcome }) => `${path} ${outcome}`);
  const expected = results.map(
    ({ path }) => `${path} ${unavailable.includes(path) ? 'unavailable' : 'leaked'}`,
  );
  assert.equal(found, expected, details);
}

export function judgeReads(reads: readonly bypass.OrdinaryRead[]): void {
  const broken = reads.filter(({ ok }) => !ok);
  assert.equal(broken, []);
  assert.ok(reads.filter(({ absent }) => !absent).length >= 50, `${reads.length} reads`);
}
