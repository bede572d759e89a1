import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { family, residentWorker } from '../../test/support/process-memory.ts';
import type { Starter } from './contender.ts';

export interface Start {
  /** From before fork until the application's first own output, in ms. */
  readonly wall: number;
  /** Of the starter, in ms: what it ran on a CPU until its work of starting was done. */
  readonly cpu: number;
  /** Of the starter while the application runs; none where nothing stays. */
  readonly memory: Memory | undefined;
}

/** In KiB. */
export interface Memory {
  readonly privateDirty: number;
  readonly locked: number;
  readonly resident: number;
}

/** Says the time in nanoseconds as its first act, then waits to be ended. */
export const application = ['/bin/sh', '-c', 'date +%s%N; exec sleep 60'];

/** Until the starter has done what comes after the start. */
const settleMs = 500;

/** Starts the application once, looks, and ends both. */
export async function measureStart({ command, env, stays }: Starter): Promise<Start> {
  const [file = '', ...args] = command;
  const before = performance.timeOrigin + performance.now();
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  try {
    const started = await firstWords(child, ended);
    await sleep(settleMs);
    const pid = child.pid as number;
    return { wall: started - before, cpu: cpuMs(pid), memory: stays ? memoryOf(pid) : undefined };
  } finally {
    if (child.exitCode === null) for (const pid of family(child.pid as number)) process.kill(pid, 'SIGKILL');
    await ended;
  }
}

/** Milliseconds of the clock at which the application wrote. */
async function firstWords(child: ChildProcess, ended: Promise<unknown>): Promise<number> {
  let output = '';
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  const told = new Promise<number>((resolve) => {
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      output += text;
      const line = /^(\d{19})$/m.exec(output)?.[1];
      if (line !== undefined) resolve(Number(BigInt(line) / 1000n) / 1000);
    });
  });
  const early = ended.then((): never => {
    throw new Error(`${child.spawnargs.join(' ')} did not start the application: ${errors}`);
  });
  return Promise.race([told, early]);
}

/** All threads of the process, by the scheduler's own count. */
function cpuMs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const spent = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  );
  return spent.reduce((sum, one) => sum + one, 0) / 1e6;
}

/** Of all processes of the starter: what runs the same program, or is its worker, belongs to it, the application does not. */
function memoryOf(pid: number): Memory {
  const program = programOf(pid);
  const worker = residentWorker(pid);
  const own = family(pid).filter((one) => one === worker || programOf(one) === program);
  const each = own.map(memoryOfOne);
  const sum = (pick: (memory: Memory) => number) => each.reduce((total, one) => total + pick(one), 0);
  return {
    privateDirty: sum(({ privateDirty }) => privateDirty),
    locked: sum(({ locked }) => locked),
    resident: sum(({ resident }) => resident),
  };
}

/** Empty for one that has ended meanwhile. */
function programOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/exe`);
  } catch {
    return '';
  }
}

function memoryOfOne(pid: number): Memory {
  const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(rollup)?.[1]);
  return { privateDirty: field('Private_Dirty'), locked: field('Locked'), resident: field('Rss') };
}
