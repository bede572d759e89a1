import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { temporaryFolder } from '../support/temporary.ts';
import type { FileResult } from './events.ts';
import { dearest, longestFirst, readTimes, writeTimes } from './times.ts';

const test = suite('times of test files');
const folder = temporaryFolder('times');
test.after(() => folder.remove());

const result = (file: string, milliseconds: number, cpuMilliseconds: number): FileResult => ({
  ...{ file, passed: 1, failures: [], skips: [], output: '' },
  ...{ milliseconds, cpuMilliseconds },
});

test('are kept for the next run, without files that are gone or failed', () => {
  const path = join(folder.path, 'deep', 'times');
  assert.is(readTimes(path).size, 0);
  writeTimes(path, [result('a', 5, 10), result('b', 7, 20), result('gone', 9, 30)], () => true);
  const failed = { ...result('b', 1, 1), failures: [{ name: 'b', error: 'early' }] };
  writeTimes(path, [failed, result('c', 3.4, 15)], (file) => file !== 'gone');
  const kept = [...readTimes(path)].map(([file, { cpuMilliseconds }]) => [file, cpuMilliseconds]);
  assert.equal(kept, [
    ['b', 20],
    ['c', 15],
    ['a', 10],
  ]);
  assert.is(readTimes(path).get('c')?.milliseconds, 3);
});

test('have the longest first, and before them what has never run', () => {
  const path = join(folder.path, 'times');
  writeTimes(path, [result('short', 1, 9), result('long', 9, 1), result('middle', 5, 5)], () => true);
  const files = ['short', 'middle', 'new', 'long', 'newer'];
  assert.equal(longestFirst(files, readTimes(path)), ['new', 'newer', 'long', 'middle', 'short']);
  assert.equal(longestFirst(files, new Map()), files);
});

test('show the ten dearest', () => {
  const lines = dearest(Array.from({ length: 12 }, (_, at) => result(`${at}`, 1_000, at * 1_000))).split(
    '\n',
  );
  assert.is(lines.length, 10);
  assert.is(lines[0], '  11.0 s of CPU    1.0 s  11');
});

test.run();
