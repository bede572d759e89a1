import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  allProcesses,
  directChildren,
  parseStat,
  processGroup,
  readProcess,
} from '../../../src/runtime/native/processes.ts';

const table = suite('process table');

table('reads a line whose program name is meant to confuse', () => {
  assert.equal(parseStat('42 (a) R 1 (b c) S 7 8 9 34816 10 4194560 0'), {
    pid: 42,
    state: 'S',
    parent: 7,
    group: 8,
    session: 9,
    terminal: 34816,
  });
});

table('has this process, its group and its parent', () => {
  const self = readProcess('self');
  assert.is(self?.pid, process.pid);
  assert.is(self?.parent, process.ppid);
  assert.is(self?.group, processGroup());
  assert.ok(allProcesses().some(({ pid, parent }) => pid === process.pid && parent === process.ppid));
});

table('has no process that is not there', () => {
  assert.is(readProcess(2 ** 30), undefined);
});

table('lists the children', async () => {
  assert.equal(directChildren(), []);
  const children = [1, 2].map(() => spawn('sleep', ['60'], { stdio: 'ignore' }));
  await Promise.all(children.map((child) => once(child, 'spawn')));
  assert.equal(directChildren()?.sort(), children.map(({ pid }) => pid).sort());
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(children.map((child) => once(child, 'exit')));
});

table.run();
