import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hasPartners, isOrphaned } from '../../../../src/plugins/wrapper/supervise/job.ts';
import type { ProcessEntry } from '../../../../src/runtime/native/processes.ts';

function entry(pid: number, parent: number, group: number, session: number): ProcessEntry {
  return { pid, parent, group, session, state: 'S', terminal: 0 };
}

const init = entry(1, 0, 1, 1);
const shell = entry(10, 1, 10, 10);

const groups = suite('process groups');

groups('a job of a shell has somebody to continue it', () => {
  assert.not(isOrphaned(20, [init, shell, entry(20, 10, 20, 10)]));
});

groups('also when only another member of the job is the shell’s child', () => {
  assert.not(isOrphaned(20, [init, shell, entry(20, 10, 20, 10), entry(21, 20, 20, 10)]));
});

groups('a session leader has not, nor has a job whose shell is gone', () => {
  assert.ok(isOrphaned(10, [init, shell]));
  assert.ok(isOrphaned(20, [init, entry(20, 1, 20, 10)]));
});

groups('nor has a job whose members are each other’s children only', () => {
  assert.ok(isOrphaned(20, [init, entry(20, 1, 20, 10), entry(21, 20, 20, 10)]));
});

groups('alone, or with those that wait for it: no partners', () => {
  const waiting = entry(20, 10, 20, 10);
  assert.not(hasPartners(21, [init, shell, entry(21, 10, 21, 10)]));
  assert.not(hasPartners(21, [init, shell, waiting, entry(21, 20, 20, 10)]));
});

groups('with others of its pipeline or script: partners', () => {
  assert.ok(hasPartners(20, [init, shell, entry(20, 10, 20, 10), entry(21, 10, 20, 10)]));
});

groups.run();
