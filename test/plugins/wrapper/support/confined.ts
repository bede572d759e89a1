import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WrapperOptions, WrapperRun } from '../../../support/svc-wrapper.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { ToolUnavailable } from '../../../support/tool-unavailable.ts';
import { type Bed, startBed } from './bed.ts';

/** Uid 65534 without any capability. */
export const ordinaryUser: readonly string[] = [
  ...['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'],
  ...['--inh-caps=-all', '--bounding-set=-all'],
];

/** Root without the right to lock memory beyond its limit. */
export const rootWithoutLock: readonly string[] = [
  'setpriv',
  '--inh-caps=-ipc_lock',
  '--bounding-set=-ipc_lock',
];

/** Before the command that becomes another user, who could not raise it. */
export const memlock = (bytes: number | 'unlimited'): readonly string[] => [
  'prlimit',
  `--memlock=${bytes}:${bytes}`,
];

export const pidNamespace: readonly string[] = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
export const userNamespace: readonly string[] = ['unshare', '--user', '--map-root-user'];

/** @throws ToolUnavailable where a command cannot be run under these */
export function checkPrefix(...prefixes: readonly (readonly string[])[]): void {
  for (const [file = '', ...args] of prefixes) {
    const { status, stderr, error } = spawnSync(file, [...args, 'true'], { encoding: 'utf8' });
    if (status !== 0) throw new ToolUnavailable(file, stderr || String(error));
  }
}

/** A bed whose certificates every user can read, and that runs the wrapper under commands such as the above. */
export interface ConfinedBed extends Bed {
  confined(under: readonly string[], options?: Partial<WrapperOptions>): Promise<WrapperRun>;
}

/** `secret/app` has `KEY=one`. */
export async function startConfinedBed(): Promise<ConfinedBed> {
  const bed = await startBed();
  await bed.kv.put('app', { KEY: 'one' });
  const folder = temporaryFolder('public');
  const caFile = join(folder.path, 'ca.pem');
  copyFileSync(bed.bao.caFile as string, caFile);
  chmodSync(folder.path, 0o755);
  chmodSync(caFile, 0o644);
  return {
    ...bed,
    async confined(under, options = {}) {
      return bed.run({ under, ...options, vault: { ...(await bed.withToken()), caFile } });
    },
    async stop() {
      await bed.stop();
      await folder.remove();
    },
  };
}
