import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { allProcesses, parseStat, readProcess } from '../../../src/runtime/native/processes.ts';

const table = suite('process table');

table('reads a line whose program name is meant to confuse', () => {
  assert.equal(parseStat('42 (a) R 1 (b c) S 7 8 9 34816 10 4194560 0'), {
    pid: 42,
    state: 'S',
    parent: 7,
  });
});

table('has this process, its group and its parent', () => {
  const self = readProcess('self');
  assert.is(self?.pid, process.pid);
  assert.is(self?.parent, process.ppid);
  assert.ok(allProcesses().some(({ pid, parent }) => pid === process.pid && parent === process.ppid));
});

table('has no process that is not there', () => {
  assert.is(readProcess(2 ** 30), undefined);
});

table.run();
