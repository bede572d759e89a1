import { join } from 'node:path';
import { mapEntries, openPinnedMap } from '../../../../../src/plugins/agent/bpf/map.ts';
import { mapFolder } from '../../../../../src/plugins/agent/guard/program-set.ts';
import {
  decodeProcess,
  decodeProtectionFlags,
  protectionFlags,
} from '../../../../../src/runtime/protocols/protection/bpf-layouts.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { type AttackOutcome, outcomeOf, startAttack, startVictim, type Victim } from './attack.ts';
import type { Scene } from './scene.ts';

const perRead = 'file_permission';

export interface EarlyRecord {
  /** Of what was asked to be covered before there was any guard. */
  readonly late: boolean;
  readonly readsChecked: boolean;
  readonly outcome: AttackOutcome;
}

/** Somebody opened what was asked to be covered before the guard was started. */
export async function early(scene: Scene): Promise<EarlyRecord> {
  const victim = await startVictim(scene);
  const holder = await holdEnviron(scene, victim);
  const { guard, folder, attached } = await scene.fresh('early', {
    before: (guard) => guard.protect(victim.pid),
  });
  const [late, readsChecked] = [isLate(folder, victim.pid), attached().includes(perRead)];
  holder.send('read');
  const outcome = await outcomeOf(holder);
  await victim.process.kill();
  await guard.close();
  return { late, readsChecked, outcome };
}

export interface LateRecord {
  readonly before: { readonly late: boolean; readonly readsChecked: boolean };
  readonly after: { readonly late: boolean; readonly readsChecked: boolean };
}

/** Descriptors stay on the memory that is given up by exec: nothing needs to be looked at any longer. */
export async function givenUp(scene: Scene): Promise<LateRecord> {
  const { guard, folder, attached } = await scene.fresh('given-up', { intervalMs: 50 });
  const state = (pid: number) => ({ late: isLate(folder, pid), readsChecked: attached().includes(perRead) });
  const victim = await startVictim(scene);
  const holder = await holdEnviron(scene, victim);
  guard.protect(victim.pid);
  const before = state(victim.pid);
  victim.process.send('exec');
  await victim.process.next();
  await waitFor('reads to be left alone', () => !attached().includes(perRead), { timeoutMs: 20_000 });
  const after = state(victim.pid);
  for (const process of [holder, victim.process]) await process.kill();
  await guard.close();
  return { before, after };
}

async function holdEnviron(scene: Scene, { pid, marker }: Victim) {
  const holder = await startAttack(scene, 'hold', ['--path', `/proc/${pid}/environ`, '--marker', marker]);
  await holder.next();
  return holder;
}

function isLate(folder: string, pid: number): boolean {
  const map = openPinnedMap(join(mapFolder(folder), 'processes'));
  const entry = mapEntries(map).find(({ key }) => decodeProcess(key).pid === pid);
  map.close();
  return entry !== undefined && (decodeProtectionFlags(entry.value) & protectionFlags.late) !== 0;
}
