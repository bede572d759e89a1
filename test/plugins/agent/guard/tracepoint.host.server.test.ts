import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { mapEntries, openPinnedMap } from '../../../../src/plugins/agent/bpf/map.ts';
import { linkFolders, mapFolder, unpinAll } from '../../../../src/plugins/agent/guard/program-set.ts';
import { SvcError } from '../../../../src/runtime/errors.ts';
import {
  decodeProcess,
  decodeProtectionFlags,
  protectionFlags,
} from '../../../../src/runtime/protocols/protection/bpf-layouts.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { attack, type Bed, createBed } from './bed.ts';

/** Tier 3, which every kernel gives that loads BPF programs at all; the higher ones are tried in a virtual machine. */
const test = suite('the guard on tier 3');
let bed: Bed;

/** By `attack`: suites beside this one may look at every process, too. */
const attacks = () => bed.hits.filter(({ source }) => source.comm === 'cat');

test.before.each(() => {
  bed = createBed();
});
test.after.each(() => bed.remove());

test('kills who reads, and nobody else', async () => {
  const guard = await bed.guard();
  const [covered, other] = [bed.victim(), bed.victim()];
  guard.protect(covered.pid);
  assert.is(attack(covered), 'killed');
  assert.is(attack(other), 'read');
  await waitFor('the hit', () => attacks().length > 0);
  const [hit] = attacks();
  assert.is(hit?.target.pid, covered.pid);
  assert.is(hit?.outcome, 'killed');
  assert.is(hit?.road, 'environ');
  assert.is(hit?.source.uid, 0);
});

test('lets everything pass in audit mode and reports it once', async () => {
  const guard = await bed.guard({ enforce: false });
  const victim = bed.victim();
  guard.protect(victim.pid);
  assert.is(attack(victim), 'read');
  await waitFor('the hit', () => attacks().length > 0);
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(
    attacks().map(({ road, outcome }) => `${road} ${outcome}`),
    ['environ seen'],
  );
  assert.is(guard.status.enforcing, false);
  assert.match(guard.status.reason, /enforceMode: false/);
});

test('says that it only sees where killing is off', async () => {
  const guard = await bed.guard({ kill: false });
  const victim = bed.victim();
  guard.protect(victim.pid);
  assert.is(attack(victim), 'read');
  assert.match(guard.status.reason, /reactiveKill is off/, guard.status.reason);
});

test('covers the descendants that a process has, and those that it gets', async () => {
  const guard = await bed.guard();
  const shell = await startFamily();
  guard.protect(shell.pid);
  assert.is(readEnvironment(shell.child), 'SIGKILL');
  const later = await shell.fork();
  assert.is(readEnvironment(later), 'SIGKILL');
  shell.end();
});

test('forgets a process when it is gone', async () => {
  const guard = await bed.guard();
  const victim = bed.victim();
  const { start } = guard.protect(victim.pid);
  assert.equal(guard.processes(), [{ pid: victim.pid, start }]);
  await victim.end();
  await waitFor('the entry to go', () => guard.processes().length === 0);
  assert.is(guard.inspect(victim.pid), undefined);
});

test('refuses a process that is not there', async () => {
  const guard = await bed.guard();
  const victim = bed.victim();
  await victim.end();
  assert.throws(
    () => guard.protect(victim.pid),
    (error: unknown) => error instanceof SvcError && error.code === 'PROCESS_GONE',
  );
});

test('goes on without the agent, and the next one takes over what was covered', async () => {
  const first = await bed.guard();
  const victim = bed.victim();
  first.protect(victim.pid);
  await first.close();
  assert.is(attack(victim), 'killed', 'while no agent is there');
  const second = await bed.guard();
  assert.equal(
    second.processes().map(({ pid }) => pid),
    [victim.pid],
  );
  assert.is(attack(victim), 'killed');
  await waitFor('the hit that nobody was there for', () => attacks().length === 2);
  assert.is(linkFolders(bed.folder).length, 1, 'the first one’s programs are gone');
});

test('puts itself right where its settings were changed', async () => {
  const guard = await bed.guard();
  breakReporting(bed);
  await waitFor('the canary to fail', () => bed.logged('guard.canary.failed'));
  const victim = bed.victim();
  guard.protect(victim.pid);
  await waitFor('a hit to be reported again', () => attack(victim) === 'killed' && attacks().length > 0);
});

test('covers what it covered where its tables were removed, too', async () => {
  const guard = await bed.guard();
  const victim = bed.victim();
  guard.protect(victim.pid);
  breakReporting(bed);
  unpinAll(bed.folder);
  assert.is(attack(victim), 'killed', 'the agent holds what was unpinned');
  await waitFor('new tables', () => linkFolders(bed.folder).length === 1);
  assert.is(attack(victim), 'killed');
  assert.equal(
    guard.processes().map(({ pid }) => pid),
    [victim.pid],
  );
});

test('starts another decoy where its own has ended', async () => {
  const guard = await bed.guard();
  process.kill(decoyIn(bed), 'SIGKILL');
  await waitFor('another decoy', () => decoyIn(bed) !== 0);
  assert.not.ok(bed.logged('guard.canary.failed'));
  assert.is(guard.status.tier, 3);
});

test('without any tier it says why, covers nothing and takes note for later', async () => {
  const guard = await bed.guard({ tiers: [1, 2] });
  assert.is(guard.status.tier, 4);
  assert.is(guard.status.enforcing, false);
  assert.match(guard.status.reason, /lsm: .*EPERM.*fmod_ret: .*EPERM/s);
  const victim = bed.victim();
  const facts = guard.protect(victim.pid);
  assert.is(facts.covered, false);
  assert.is(attack(victim), 'read');
});

interface Family {
  readonly pid: number;
  readonly child: number;
  fork(): Promise<number>;
  end(): void;
}

async function startFamily(): Promise<Family> {
  const shell = spawn('/bin/sh', ['-c', 'while read line; do sleep 1000 & echo $!; done'], {
    env: { SECRET: 'x', PATH: '/bin:/usr/bin' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  shell.stdout.setEncoding('latin1');
  const fork = () =>
    new Promise<number>((resolve) => {
      shell.stdout.once('data', (text: string) => resolve(Number(text)));
      shell.stdin.write('fork\n');
    });
  const children: number[] = [];
  const forked = async () => {
    const pid = await fork();
    children.push(pid);
    return pid;
  };
  return {
    pid: shell.pid as number,
    child: await forked(),
    fork: forked,
    end() {
      for (const pid of [...children, shell.pid as number]) process.kill(pid, 'SIGKILL');
    },
  };
}

function readEnvironment(pid: number): NodeJS.Signals | null {
  return spawnSync('/bin/cat', [`/proc/${pid}/environ`]).signal;
}

/** The programs report only for the generation that the settings name. */
function breakReporting({ folder }: Bed): void {
  const map = openPinnedMap(join(mapFolder(folder), 'settings'));
  const settings = map.lookup(Buffer.alloc(4)) as Buffer;
  settings.writeUInt32LE(0xffff_0000, 8);
  map.update(Buffer.alloc(4), settings);
  map.close();
}

/** 0 while there is none. */
function decoyIn({ folder }: Bed): number {
  const map = openPinnedMap(join(mapFolder(folder), 'processes'));
  const decoys = mapEntries(map).filter(
    ({ value }) => decodeProtectionFlags(value) === protectionFlags.decoy,
  );
  map.close();
  return decoys[0] === undefined ? 0 : decodeProcess(decoys[0].key).pid;
}

test.run();
