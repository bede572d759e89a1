import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { buildBypass } from '../support/bypass/build.ts';
import * as bypass from '../support/bypass.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { GIVEN_UP, judgeAccessPaths, judgeReads } from './judge.ts';

/** Hosts differ in these; the virtual machine has all of them. */
const FILES = { kcore: '/proc/kcore', 'dev-mem': '/dev/mem' };
/** It would change the host for everybody. */
const VM_ONLY = 'core-pipe';
/** Guards that other suites try on this host close these for everybody. */
const SHARED = ['perf-stack-user', 'exec-binfmt'];

const folder = temporaryFolder('bypass');
const program = await buildBypass(folder.path);
const paths = await bypass.listAccessPaths(program);

const test = suite('attack paths to an unprotected process, on this machine');
test.after(() => folder.remove());

test('every attack path that this host has leaks', async () => {
  const results: bypass.AccessPathResult[] = [];
  for (const entry of paths.filter(({ path }) => !SHARED.includes(path))) {
    results.push(await bypass.walkAccessPath(program, entry));
  }
  const absent = Object.entries(FILES).flatMap(([path, file]) => (existsSync(file) ? [] : [path]));
  judgeAccessPaths(results, [...GIVEN_UP, ...absent, VM_ONLY]);
});

async function withVictim(use: (victim: bypass.Victim) => Promise<void>): Promise<void> {
  const victim = await bypass.startVictim(program);
  try {
    await use(victim);
  } finally {
    await victim.end();
  }
}

test('ordinary reads work', () =>
  withVictim(async ({ facts }) => judgeReads(await bypass.readOrdinarily(program, facts.pid))));

test('descriptors opened before the secret came stay on the memory of then', async () => {
  for (const entry of paths.filter(({ path }) =>
    /^(opened-(environ-read|environ-preadv|mem)|scm-rights|fork-inherit)$/.test(path),
  )) {
    const { outcome, detail } = await bypass.walkAccessPath(program, entry, { secret: 'after' });
    assert.is(outcome, 'failed', `${entry.path}: ${detail}`);
  }
  const [environ] = paths;
  assert.ok(environ);
  assert.is((await bypass.walkAccessPath(program, environ, { secret: 'after' })).outcome, 'leaked');
});

test('a hammer counts what it read, from one process or from many', () =>
  withVictim(async ({ facts }) => {
    const { pid, marker, address } = facts;
    for (const options of [{}, { path: 'mem' as const, address }, { spawn: true }]) {
      const running = await bypass.hammer(program, { pid, marker, count: 20, ...options });
      const { longestGapMicros, ...counts } = await running.end();
      assert.equal(counts, { attempts: 20, leaked: 20, denied: 0, failed: 0, killed: 0 });
      assert.type(longestGapMicros, 'number');
    }
    const endless = await bypass.hammer(program, { pid, marker: 'another', hertz: 1_000 });
    await sleep(100);
    const { attempts, failed, leaked } = await endless.end();
    assert.ok(attempts > 0 && failed === attempts && leaked === 0);
  }));

test('a watcher reads children however they start', () =>
  withVictim(async (victim) => {
    const { pid, marker } = victim.facts;
    const watcher = await bypass.watchChildren(program, pid, marker);
    await victim.fork();
    await victim.fork();
    // its threads are as many as processors, which others may have for a while
    await sleep(2_000);
    const { children, attempts, leaked } = await watcher.end();
    assert.is(children, 2);
    assert.ok(leaked > 0 && leaked <= attempts, `${leaked} of ${attempts}`);
  }));

test('a PID whose process has ended can be had for another', async () => {
  const first = await bypass.startVictim(program);
  await first.end();
  const { pid } = first.facts;
  const second = await bypass.reusePid(program, pid, 'another marker');
  const result = await bypass.tryAccessPath(program, 'environ', { pid, marker: 'another marker' });
  await second.end();
  assert.is(second.pid, pid);
  assert.is(result.outcome, 'leaked');
});

test('events are as many as were asked for', () =>
  withVictim(async ({ facts }) => {
    const { attempts, opened } = await bypass.makeEvents(program, facts.pid, 5_001, 1);
    assert.is(attempts, 5_001);
    assert.is(opened, 5_001);
  }));

test('costs are measured again and again, with a herd around', async () => {
  const herd = await bypass.startHerd(program, 100);
  const pids = await herd.grow();
  assert.is(new Set(pids).size, 100);
  const few = ['--rounds', '3', '--opens', '100', '--reads', '100', '--calls', '100', '--forks', '2'];
  const meter = await bypass.startCostMeter(program, [...few, '--pid', String(pids[0])]);
  const calls = ['call', 'forkExec', 'mapPage', 'openClose', 'openCloseProc', 'openCloseStatus'];
  for (const result of [await meter.measure(), await meter.measure()]) {
    assert.equal(Object.keys(result), [...calls, 'readByte', 'readPage', 'readProc']);
    for (const { median, least } of Object.values(result)) assert.ok(least > 0 && least <= median);
  }
  await meter.end();
  await herd.end();
  assert.throws(() => process.kill(pids[0] as number, 0), /ESRCH/);
});

test.run();
