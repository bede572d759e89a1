import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import {
  createGuard,
  type GuardOptions,
  type StartingGuard,
} from '../../../../src/plugins/agent/guard/create-guard.ts';
import type { AccessEvent } from '../../../../src/runtime/protocols/protection/bpf-layouts.ts';
import { reapProcess } from '../../../support/reaper.ts';
import { recordingLog } from '../access-events/recording-log.ts';
import { privateFileSystem } from '../bpf/private-file-system.ts';
import { eachAccessEvent } from './each-access-event.ts';

export interface Bed {
  readonly folder: string;
  readonly hits: AccessEvent[];
  /** Whether the guard has logged this. */
  logged(event: string): boolean;
  guard(options?: Partial<GuardOptions>): Promise<StartingGuard>;
  victim(): Victim;
  remove(): Promise<void>;
}

export interface Victim {
  readonly pid: number;
  readonly secret: string;
  end(): Promise<void>;
}

/** A BPF file system of its own, its guards and processes with a secret, all gone with `remove`. */
export function createBed(): Bed {
  const files = privateFileSystem();
  const folder = join(files.path, 'svc');
  const hits: AccessEvent[] = [];
  const { log, lines } = recordingLog();
  const guards: StartingGuard[] = [];
  const victims: Victim[] = [];
  return {
    folder,
    hits,
    logged: (event) => lines.some((line) => line.event === event),
    async guard(options = {}) {
      const guard = createGuard({
        ...{ folder, enforce: true, kill: true, tiers: [3], intervalMs: 200, log },
        onTallies() {},
        onCanary() {},
        ...options,
      });
      guards.push(guard);
      guard.onHit(eachAccessEvent((hit) => hits.push(hit)));
      await guard.start();
      return guard;
    },
    victim() {
      const victim = startVictim();
      victims.push(victim);
      return victim;
    },
    async remove() {
      for (const guard of guards) await guard.close();
      for (const victim of victims) await victim.end();
      files.remove();
    },
  };
}

export function startVictim(): Victim {
  const secret = randomBytes(12).toString('hex');
  const child: ChildProcess = spawn('/bin/cat', [], {
    env: { SECRET: secret },
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const pid = child.pid as number;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.once('exit', reapProcess(pid));
  return {
    pid,
    secret,
    async end() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** What a process of its own comes to that reads a victim's environment. */
export function attack({ pid, secret }: Victim): 'read' | 'killed' | string {
  const { stdout, stderr, signal } = spawnSync('/bin/cat', [`/proc/${pid}/environ`], { encoding: 'latin1' });
  if (stdout.includes(secret)) return 'read';
  return signal === 'SIGKILL' ? 'killed' : stderr;
}
