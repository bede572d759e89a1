import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadProgramSet, mapFolder } from '../../../../src/plugins/agent/guard/program-set.ts';
import { readProcess } from '../../../../src/runtime/native/processes.ts';
import { encodeProcess, encodeProtection } from '../../../../src/runtime/protocols/protection/bpf-layouts.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { attack, type Bed, createBed } from './bed.ts';

const test = suite<{ bed: Bed }>('a table full of entries of one workload');
const mostProcesses = 65_536;

test.before.each((context) => {
  context.bed = createBed();
});
test.after.each(({ bed }) => bed.remove());

/** A process with a child that has ended and that it never reaps. */
async function startZombie() {
  const script =
    'import os,sys\npid=os.fork()\nif pid==0: os._exit(0)\nprint(pid,flush=True)\nsys.stdin.read()';
  const parent = spawn('python3', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  const pid = Number(line.toString());
  await waitFor('the end of the child', () => readProcess(pid)?.state === 'Z');
  return {
    pid,
    async end() {
      parent.stdin.end();
      await once(parent, 'exit');
    },
  };
}

test('has room for others where they have ended, though nobody has reaped them', async ({ bed }) => {
  const guard = await bed.guard();
  const zombie = await startZombie();
  const beside = loadProgramSet(3, bed.folder, { generation: 1, preemptionAddress: 0n });
  const table = beside.map('processes');
  const fill = () => {
    for (let start = 1n; start <= mostProcesses; start += 1n)
      table.update(encodeProcess({ pid: zombie.pid, start }), encodeProtection(0));
  };
  assert.throws(fill, /E2BIG/);
  const victim = bed.victim();
  const { covered } = guard.protect(victim.pid);
  assert.is(covered, true);
  assert.ok(guard.processCount() < 10, `${guard.processCount()} entries are left`);
  beside.close();
  await zombie.end();
});

test('is taken over from an agent that did not count the entries of cgroups', async ({ bed }) => {
  const before = await bed.guard();
  const victim = bed.victim();
  before.protect(victim.pid);
  await before.close();
  unlinkSync(join(mapFolder(bed.folder), 'crowds'));
  const after = await bed.guard();
  assert.is(after.inspect(victim.pid)?.covered, true);
  assert.is(attack(victim), 'killed');
  assert.equal(after.crowded(), []);
  await victim.end();
  await waitFor('the entry to go', () => after.processCount() === 0);
});

test.run();
