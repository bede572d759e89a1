import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { cpuWithChildren } from '../../test/support/cpu-time.ts';
import { family } from '../../test/support/process-memory.ts';
import type { Starter } from './contender.ts';

/** What one renewal costs, in which the secrets are looked at too. */
export interface PassCost {
  /** Milliseconds on a CPU, of the wrapper and its workers. */
  readonly cpu: number;
  /** KiB resident at most, the application left aside. */
  readonly peak: number;
}

const passes = 10;
const lookEveryMs = 5;

/** Renews and looks every second. */
export const often: NodeJS.ProcessEnv = {
  RENEWAL_INTERVAL: '1s',
  SVC_ROTATION: 'restart',
  SVC_LOG_LEVEL: 'debug',
};

/** @param starter with `often` in its environment */
export async function measurePasses({ command, env }: Starter): Promise<PassCost> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  const pid = child.pid as number;
  let log = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => (log += text));
  const count = () => log.split('"token.kept"').length - 1;
  let peak = 0;
  const until = async (wanted: number) => {
    while (count() < wanted) {
      if (child.exitCode !== null) throw new Error(`the wrapper has ended: ${log}`);
      peak = Math.max(peak, residentOf(pid));
      await sleep(lookEveryMs);
    }
  };
  try {
    await until(2);
    // of its children, the application is still there
    const before = cpuWithChildren(pid);
    const first = count();
    peak = 0;
    await until(first + passes);
    return { cpu: (cpuWithChildren(pid) - before) / passes, peak };
  } finally {
    if (child.exitCode === null) for (const one of family(pid)) process.kill(one, 'SIGKILL');
    await ended;
  }
}

function residentOf(pid: number): number {
  return family(pid).reduce((sum, one) => sum + (isApplication(one) ? 0 : resident(one)), 0);
}

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
};

const isApplication = (pid: number): boolean => /^(sleep|\/bin\/sh)\0/.test(textOf(`/proc/${pid}/cmdline`));

const resident = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0);
