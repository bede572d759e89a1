import { setTimeout as sleep } from 'node:timers/promises';
import { type LineProcess, startLineProcess } from '../../../../support/bypass/line-process.ts';

/** A read that succeeded. */
export interface Success {
  readonly pid: number;
  readonly way: 'environ' | 'mem' | 'held-environ' | 'held-mem';
  /** When it was begun, in ms since the epoch. */
  readonly at: number;
  /** It got the marker. */
  readonly leaked: boolean;
}

/** Those that read by four ways. */
export interface Stalked {
  /** Processes that they found. */
  readonly children: number;
  readonly readers: number;
  readonly killed: number;
  /** Attempts that were denied, of readers that were not killed. */
  readonly denied: number;
}

/** Those that read the environment of each process from its first moment. */
export interface Watched {
  readonly leaked: number;
  readonly denied: number;
  readonly killed: number;
}

export interface Readers {
  end(): Promise<{
    readonly successes: readonly Success[];
    readonly stalked: Stalked;
    readonly watched: Watched;
  }>;
}

/** Emulated processors do no more beside the wrapper, and take minutes for it unless the readers yield. */
const emulated = { stalk: ['--hz', '250', '--nice', '10'], watch: ['--nice', '19'] };
const native = { stalk: ['--hz', '1000'], watch: [] };

/**
 * Attackers on every descendant of a process, from each one's first moment: environment and memory by fresh descriptors
 * and by those that were once granted, and each environment as often as all processors can. Who is killed is replaced.
 */
export async function startReaders(
  program: string,
  ancestor: number,
  marker: string,
  isEmulated: boolean,
): Promise<Readers> {
  const pace = isEmulated ? emulated : native;
  const target = ['--marker', marker];
  const stalk = ['stalk', '--ancestor', String(ancestor), ...target, ...pace.stalk];
  const watch = ['watch-children', '--pid', String(ancestor), ...target, '--tell', ...pace.watch];
  const stalker = await start(program, stalk);
  const watching = keepWatching(() => startLineProcess(program, watch), await start(program, watch));
  const successes: Success[] = [];
  const stalked = collect(stalker, successes);
  return {
    async end() {
      stalker.close();
      return { watched: await watching.end(), stalked: await stalked, successes };
    },
  };
}

async function start(program: string, args: readonly string[]): Promise<LineProcess> {
  const reader = await startLineProcess(program, args);
  await reader.next<{ ready: true }>();
  return reader;
}

type StalkLine = Success | { readonly denied: number } | ({ readonly done: true } & Omit<Stalked, 'denied'>);

async function collect(stalker: LineProcess, successes: Success[]): Promise<Stalked> {
  for (let denied = 0; ; ) {
    const line = await stalker.next<StalkLine>();
    if ('done' in line) {
      const { children, readers, killed } = line;
      return { children, readers, killed, denied };
    }
    if ('way' in line) successes.push(line);
    else denied += line.denied;
  }
}

type WatchLine =
  | { readonly ready: true }
  | { readonly leaked: number; readonly denied?: number; readonly children?: number };

/** A watcher may be killed at any moment, before it is ready too. */
function keepWatching(again: () => Promise<LineProcess>, first: LineProcess): { end(): Promise<Watched> } {
  let watcher = first;
  let ending = false;
  const sum = { leaked: 0, denied: 0, killed: 0 };
  const take = (line: WatchLine) => {
    if ('leaked' in line && line.children === undefined) sum.leaked += 1;
    if ('denied' in line) sum.denied += line.denied ?? 0;
  };
  const watch = async () => {
    for (;;) {
      for (let line = await watcher.nextOrEnd<WatchLine>(); line; line = await watcher.nextOrEnd())
        take(line);
      if ((await watcher.exited).signal === 'SIGKILL') sum.killed += 1;
      if (ending) return;
      await sleep(20);
      watcher = await again();
      if (ending) watcher.close();
    }
  };
  const over = watch();
  return {
    async end() {
      ending = true;
      watcher.close();
      await over;
      return sum;
    },
  };
}
