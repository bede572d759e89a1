import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { family } from '../../test/support/process-memory.ts';
import type { Starter } from './contender.ts';

const changes = 20;
export const intervalMs = 2_000;

/** Looks every two seconds, and restarts the application, which says at once what it has. */
export const everyTwoSeconds: NodeJS.ProcessEnv = {
  RENEWAL_INTERVAL: `${intervalMs}ms`,
  SVC_ROTATION: 'restart',
};

export const tellsItsSecret = ['/bin/sh', '-c', 'echo "$(date +%s%N) $PASSWORD"; exec sleep 60'];

/**
 * From the moment at which a new secret was stored to the first output of the application that has it.
 * @param starter with `everyTwoSeconds` in its environment and `tellsItsSecret` as its application
 * @returns milliseconds, of changes at moments that have nothing to do with the renewals
 */
export async function measureDelivery(
  { command, env }: Starter,
  put: (password: string) => Promise<unknown>,
): Promise<number[]> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  const toldAt = async (password: string) => {
    for (;;) {
      const line = new RegExp(`^(\\d{19}) ${password}$`, 'm').exec(output)?.[1];
      if (line !== undefined) return Number(BigInt(line) / 1_000_000n);
      if (child.exitCode !== null) throw new Error('the wrapper has ended');
      await sleep(20);
    }
  };
  const delays: number[] = [];
  try {
    for (let change = 0; change < changes; change++) {
      await sleep(Math.random() * intervalMs);
      const password = `password-${change}`;
      await put(password);
      const stored = Date.now();
      delays.push(Math.max(0, (await toldAt(password)) - stored));
    }
    return delays;
  } finally {
    if (child.exitCode === null) for (const pid of family(child.pid as number)) process.kill(pid, 'SIGKILL');
    await ended;
  }
}
