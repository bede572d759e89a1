import { type LineProcess, startLineProcess } from './line-process.ts';
import type {
  CostResult,
  EventsResult,
  HammerOptions,
  HammerResult,
  OrdinaryRead,
  WatchResult,
} from './types.ts';

/** Something under way that says what came of it when it is ended. */
export interface Running<T> {
  readonly pid: number;
  end(): Promise<T>;
}

/** Reads over and over until it is ended, or until its own count is reached, which `end` then waits for. */
export async function hammer(program: string, options: HammerOptions): Promise<Running<HammerResult>> {
  const { pid, marker, path = 'environ', address, hertz, spawn, count } = options;
  const child = await startLineProcess(program, [
    ...['hammer', '--pid', String(pid), '--marker', marker, '--path', path],
    ...(address === undefined ? [] : ['--address', String(address), '--length', String(marker.length)]),
    ...(hertz === undefined ? ['--as-fast'] : ['--hz', String(hertz)]),
    ...(spawn ? ['--spawn'] : []),
    ...(count === undefined ? [] : ['--count', String(count)]),
  ]);
  return running(child, count === undefined);
}

/** Reads the environment of every descendant from its first moment on. */
export async function watchChildren(
  program: string,
  pid: number,
  marker: string,
): Promise<Running<WatchResult>> {
  const args = ['watch-children', '--pid', String(pid), '--marker', marker];
  return running(await startLineProcess(program, args), true);
}

async function running<T>(child: LineProcess, untilClosed: boolean): Promise<Running<T>> {
  await child.next<{ ready: true }>();
  return {
    pid: child.pid,
    async end() {
      if (untilClosed) child.close();
      const result = await child.next<T>();
      child.close();
      await child.exited;
      return result;
    },
  };
}

/** What tools read of another process every day, each once. */
export async function readOrdinarily(program: string, pid: number): Promise<OrdinaryRead[]> {
  const child = await startLineProcess(program, ['ordinary', '--pid', String(pid)]);
  const reads: OrdinaryRead[] = [];
  for (;;) {
    const read = await child.nextOrEnd<OrdinaryRead>();
    if (read === undefined) return reads;
    reads.push(read);
  }
}

/** Opens an environ exactly `perSecond * seconds` times. */
export async function makeEvents(
  program: string,
  pid: number,
  perSecond: number,
  seconds: number,
): Promise<EventsResult> {
  const numbers = ['--per-second', String(perSecond), '--seconds', String(seconds)];
  const child = await startLineProcess(program, ['events', '--pid', String(pid), ...numbers]);
  const result = await child.next<EventsResult>();
  await child.exited;
  return result;
}

/** Measures whenever it is asked, always on the same files. */
export interface CostMeter {
  measure(): Promise<CostResult>;
  end(): Promise<void>;
}

export async function startCostMeter(program: string, args: readonly string[] = []): Promise<CostMeter> {
  const child = await startLineProcess(program, ['cost', '--on-line', ...args]);
  await child.next<{ ready: true }>();
  return {
    measure() {
      child.send('');
      return child.next<CostResult>();
    },
    end: () => endOf(child),
  };
}

export interface Herd {
  /** The parent of all, which forks them when told so. */
  readonly pid: number;
  grow(): Promise<readonly number[]>;
  end(): Promise<void>;
}

/** Many processes that do nothing, forked from one that can be protected before. */
export async function startHerd(program: string, count: number): Promise<Herd> {
  const child = await startLineProcess(program, ['herd', '--wait', '--count', String(count)]);
  const { pid } = await child.next<{ pid: number }>();
  return {
    pid,
    async grow() {
      child.send('');
      return (await child.next<{ pids: number[] }>()).pids;
    },
    end: () => endOf(child),
  };
}

export interface Reused {
  readonly pid: number;
  readonly marker: string;
  end(): Promise<void>;
}

/** A new process of exactly that PID, as soon as it is free, with another marker in its environment. */
export async function reusePid(program: string, pid: number, marker: string): Promise<Reused> {
  const child = await startLineProcess(program, ['reuse', '--pid', String(pid)], { BYPASS_SECRET: marker });
  const facts = await child.next<{ pid: number; marker: string }>();
  return { ...facts, end: () => endOf(child) };
}

async function endOf(child: LineProcess): Promise<void> {
  child.close();
  await child.exited;
}
