import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Acknowledgement } from '../../../src/plugins/wrapper/agent/agent-client.ts';
import { reapProcess } from '../../support/reaper.ts';
import type { Victim } from './guard/bed.ts';

/** What the agent has acknowledged to a process, and its child, which has a secret in its environment. */
export interface Registered extends Victim, Acknowledgement {
  readonly registrar: number;
}

const FIXTURE = fileURLToPath(new URL('./fixtures/registrar.ts', import.meta.url));

/** Starts a process that registers as a wrapper does, and what its child is to be. @throws Error where it is refused */
export async function startRegistrar(
  address: string,
  command: readonly string[] = ['/bin/cat'],
): Promise<Registered> {
  const secret = randomBytes(12).toString('hex');
  const process_ = spawn(process.execPath, [FIXTURE, address.replace('unix://', ''), secret, ...command], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const registrar = process_.pid as number;
  process_.once('exit', reapProcess(registrar));
  let errors = '';
  process_.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const [line] = (await Promise.race([once(process_.stdout, 'data'), once(process_, 'exit')])) as [unknown];
  if (!Buffer.isBuffer(line)) throw new Error(`The registrar was refused\n${errors}`);
  const { child, ...acknowledged } = JSON.parse(line.toString()) as Acknowledgement & { child: number };
  return {
    ...acknowledged,
    registrar,
    pid: child,
    secret,
    async end() {
      if (process_.exitCode !== null) return;
      process_.stdin.end();
      await once(process_, 'exit');
    },
  };
}
