import * as assert from 'uvu/assert';
import type { CollateralRecord } from './driver/collateral.ts';
import type { ContainerRecord } from './driver/containers.ts';
import type { CoreRecord } from './driver/cores.ts';

/**
 * Everybody else can do what they are used to.
 * @param killed commands that open every environment, whatever they show of it: where readers are killed, these are
 */
export function judgeCollateral(record: CollateralRecord, killed: readonly string[] = []): void {
  assert.ok(record.ordinary >= 16, `${record.ordinary} ordinary reads`);
  assert.equal(record.ordinaryFailed, []);
  for (const { command, status, namesIt, leaks } of record.tools) {
    assert.is(leaks, false, `${command} shows the environment`);
    if (killed.includes(command) && status === 'SIGKILL') continue;
    assert.is(status, 0, command);
    assert.is(namesIt, true, `${command} shows the process`);
  }
  assert.equal(record.own, {
    environ: true,
    byPid: true,
    byThreads: true,
    memory: true,
    byOtherThread: true,
  });
  assert.is(record.unprotectedTrace, 'leaked');
  assert.is(record.unprotectedProfile, true);
}

/**
 * All that an administrator does with a container works, and its environment stays closed.
 * @param killed subcommands of runc that may be ended, as above: its `ps` has the command of that name do it
 */
export function judgeContainer(
  { attack, commands }: ContainerRecord,
  blocked: 'denied' | 'killed',
  killed: readonly string[] = [],
): void {
  assert.is(attack, blocked);
  for (const { command, status, output } of commands) {
    if (killed.includes(command) && output.includes('signal: killed')) continue;
    assert.is(status, 0, `runc ${command}: ${output}`);
  }
  assert.is(commands.find(({ command }) => command === 'exec')?.output, 'inside');
  const all = commands.map(({ command }) => command);
  assert.equal(all.slice(-5), ['exec', 'ps', 'state', 'kill', 'delete']);
}

export function judgeCores({ unprotected, ofAgent }: CoreRecord): void {
  assert.ok(unprotected > 0, 'an unprotected process leaves its core');
  assert.equal(ofAgent, []);
}
