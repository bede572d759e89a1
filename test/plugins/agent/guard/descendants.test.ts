import { type ChildProcess, spawn } from 'node:child_process';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { coverProcess, coverSteps } from '../../../../src/plugins/agent/guard/cover.ts';
import { fakePrograms } from './support/fake-programs.ts';
import { type Family, startFamily } from './support/family.ts';

const test = suite('descendants of a covered process');

async function withFamily(generations: number, work: (family: Family) => Promise<void> | void) {
  const family = await startFamily(generations);
  try {
    await work(family);
  } finally {
    await family.end();
  }
}

const count = (asked: readonly string[], what: string) => asked.filter((each) => each === what).length;
const codeOf = (code: string) => (error: unknown) => (error as { code?: string }).code === code;

test('covers each generation, and asks once for each process', () =>
  withFamily(4, ({ pid, descendants }) => {
    const programs = fakePrograms();
    const facts = coverProcess(programs.set, pid);
    assert.equal([facts.pid, facts.covered, facts.openedBefore], [pid, true, false]);
    assert.is(descendants.length, 7);
    for (const each of [pid, ...descendants]) {
      assert.ok(programs.isCovered(each));
      assert.is(count(programs.asked, `protect ${each}`), 1);
    }
    assert.is(programs.asked.filter((each) => each.startsWith('protect')).length, 8);
    assert.is(programs.lates, 0);
  }));

test('a process without any is done with two questions', () => {
  const [programs, alone] = [fakePrograms(), spawn('sleep', ['60'])];
  coverProcess(programs.set, alone.pid as number);
  alone.kill('SIGKILL');
  assert.equal(programs.asked, [`protect ${alone.pid}`, `inspect ${alone.pid}`]);
});

test('looks once more while there are new ones: those that are forked meanwhile are covered', () => {
  const children = [spawn('sleep', ['60'])];
  const programs = fakePrograms();
  programs.onAsk = (request, pid) => {
    const isNewest = children.at(-1)?.pid === pid;
    if (request === 'protect' && isNewest && children.length < 4) children.push(spawn('sleep', ['60']));
  };
  coverProcess(programs.set, process.pid);
  endAll(children);
  assert.is(children.length, 4);
  assert.ok(children.every(({ pid }) => programs.asked.includes(`protect ${pid}`)));
});

test('never says that all are covered while there are always new ones', () => {
  const children = [spawn('sleep', ['60'])];
  const programs = fakePrograms();
  programs.onAsk = (request) => {
    if (request === 'protect') children.push(spawn('sleep', ['60']));
  };
  assert.throws(() => coverProcess(programs.set, process.pid), codeOf('PROTECTION_UNSETTLED'));
  endAll(children);
});

test('those that have inherited meanwhile are no news, however many they are', () => {
  const children = [spawn('sleep', ['60'])];
  const programs = fakePrograms();
  programs.onAsk = (request, pid) => {
    if (request === 'protect' || pid !== process.pid) return;
    children.push(spawn('sleep', ['60']));
    programs.set.ask('protect', children.at(-1)?.pid as number);
  };
  assert.ok(coverProcess(programs.set, process.pid).covered);
  endAll(children);
});

function endAll(children: readonly ChildProcess[]): void {
  for (const child of children) child.kill('SIGKILL');
}

test('fails where there is no room for a descendant', () =>
  withFamily(2, ({ pid }) => {
    const programs = fakePrograms();
    programs.room = 3;
    assert.throws(() => coverProcess(programs.set, pid), codeOf('GUARD_FULL'));
  }));

test('fails where the process has ended meanwhile', () =>
  withFamily(2, async ({ pid, endFirst }) => {
    const programs = fakePrograms();
    const steps = coverSteps(programs.set, pid);
    steps.next();
    await endFirst();
    assert.throws(() => [...steps], codeOf('PROCESS_GONE'));
  }));

test('has reads of descriptors checked where a descendant was opened before, when it is left early, too', () =>
  withFamily(2, ({ pid, descendants }) => {
    const programs = fakePrograms();
    programs.opened.add(descendants[0] as number);
    assert.ok(coverProcess(programs.set, pid).openedBefore);
    assert.is(programs.lates, 1);
    const steps = coverSteps(programs.set, pid);
    steps.next();
    steps.return(undefined as never);
    assert.is(programs.lates, 2);
  }));

test.run();
