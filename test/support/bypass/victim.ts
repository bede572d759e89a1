import { randomUUID } from 'node:crypto';
import { type LineProcess, startLineProcess } from './line-process.ts';
import type { VictimFacts, VictimOptions } from './types.ts';

export type VictimCommand = 'fork' | 'exit-leader' | 'traceme' | 'exec' | 'abort';

export interface Victim {
  readonly facts: VictimFacts;
  /** Has it do something, and yields what it says about that. */
  tell(command: VictimCommand): Promise<Record<string, unknown>>;
  /** Starts a child by fork alone. */
  fork(): Promise<Victim>;
  end(): Promise<void>;
}

/** A process that has no secret yet. */
export interface WaitingVictim {
  readonly pid: number;
  readonly marker: string;
  /** Gives it the secret, with which it executes itself. */
  release(): Promise<Victim>;
  end(): Promise<void>;
}

/** Starts a process that has a marker in its environment, on its heap, on a stack and behind a descriptor. */
export async function startVictim(program: string, options: VictimOptions = {}): Promise<Victim> {
  const marker = options.marker ?? newMarker();
  const child = await startLineProcess(program, ['victim', ...flags(options)], { BYPASS_SECRET: marker });
  return victimOf(child, await child.next<VictimFacts>());
}

/** Starts one that gets its secret only when told so. */
export async function startWaitingVictim(
  program: string,
  options: VictimOptions = {},
): Promise<WaitingVictim> {
  const marker = options.marker ?? newMarker();
  const child = await startLineProcess(program, ['victim', '--late-exec', ...flags(options)]);
  const { pid } = await child.next<{ pid: number }>();
  return {
    pid,
    marker,
    async release() {
      child.send(marker);
      return victimOf(child, await child.next<VictimFacts>());
    },
    end: () => end(child),
  };
}

export function newMarker(): string {
  return `marker-${randomUUID()}`;
}

function victimOf(child: LineProcess, facts: VictimFacts): Victim {
  const ask = async <T>(command: VictimCommand) => {
    child.send(command);
    return child.next<T>();
  };
  return {
    facts,
    tell: ask,
    fork: async () => victimOf(child, await ask<VictimFacts>('fork')),
    end: () => end(child),
  };
}

async function end(child: LineProcess): Promise<void> {
  await child.kill();
}

function flags(options: VictimOptions): string[] {
  return [
    ...(options.child ? ['--child'] : []),
    ...(options.setproctitle ? ['--setproctitle'] : []),
    ...(options.coreLimit === undefined ? [] : ['--core-limit', String(options.coreLimit)]),
    ...(options.toolFolder === undefined ? [] : ['--tool', options.toolFolder]),
  ];
}
