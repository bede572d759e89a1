import { spawn } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  listedChildren,
  lookForChildren,
  scannedChildren,
} from '../../../../src/plugins/agent/guard/descendants.ts';

const test = suite('children of a process');
const absent = 2 ** 22 + 1;

test('are the same by the lists of its threads and by one look at all processes', () => {
  const children = [1, 2, 3].map(() => spawn('sleep', ['60']));
  const sorted = (lists: Iterable<readonly number[]>) => [...lists].flat().sort();
  const listed = sorted(listedChildren(process.pid));
  const scanned = sorted(scannedChildren()(process.pid));
  for (const child of children) child.kill('SIGKILL');
  assert.equal(listed, scanned);
  for (const { pid } of children) assert.ok(listed.includes(pid as number));
});

test('a process that is not there has none', () => {
  for (const childrenOf of [listedChildren, scannedChildren(), lookForChildren()])
    assert.equal([...childrenOf(absent)].flat(), []);
});

test.run();
