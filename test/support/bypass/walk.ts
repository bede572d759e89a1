import { temporaryFolder } from '../temporary.ts';
import { type Armed, armAccessPath, tryAccessPath } from './attempt.ts';
import type { AccessPathEntry, AccessPathResult, AttemptOptions, VictimOptions } from './types.ts';
import { newMarker, startVictim, startWaitingVictim, type Victim } from './victim.ts';

export interface WalkOptions extends AttemptOptions {
  /** Called with the victim's PID, after the first phase of attack paths that have two. */
  readonly protect?: (pid: number) => Promise<unknown>;
  /** When the victim gets its secret; default `before`. `after`: as an application under the wrapper. */
  readonly secret?: 'before' | 'after';
}

/** Prepares a victim as the attack path needs it, walks it, and ends the victim. */
export async function walkAccessPath(
  program: string,
  entry: AccessPathEntry,
  options: WalkOptions = {},
): Promise<AccessPathResult> {
  if (entry.needs.includes('own-victim')) return walkAsParent(program, entry, options);
  const walk = new Walk(program, entry, options);
  try {
    return await (options.secret === 'after' ? walk.secretAfter() : walk.secretBefore());
  } finally {
    await walk.end();
  }
}

async function walkAsParent(
  program: string,
  entry: AccessPathEntry,
  options: WalkOptions,
): Promise<AccessPathResult> {
  const armed = await armAccessPath(program, entry.path, { pid: 0, marker: newMarker() });
  try {
    if (armed.victim) await options.protect?.(armed.victim.pid);
    return await armed.finish();
  } finally {
    await armed.end();
  }
}

class Walk {
  readonly #program: string;
  readonly #entry: AccessPathEntry;
  readonly #options: WalkOptions;
  readonly #started: { end(): Promise<void> }[] = [];

  constructor(program: string, entry: AccessPathEntry, options: WalkOptions) {
    this.#program = program;
    this.#entry = entry;
    this.#options = options;
  }

  async secretBefore(): Promise<AccessPathResult> {
    const victim = this.#keep(await startVictim(this.#program, this.#victimOptions()));
    const armed = await this.#arm(victim.facts);
    await this.#options.protect?.(victim.facts.pid);
    return this.#finish(victim, armed);
  }

  async secretAfter(): Promise<AccessPathResult> {
    const waiting = this.#keep(await startWaitingVictim(this.#program, this.#victimOptions()));
    const armed = await this.#arm({ pid: waiting.pid, marker: waiting.marker });
    await this.#options.protect?.(waiting.pid);
    return this.#finish(await waiting.release(), armed);
  }

  async end(): Promise<void> {
    for (const each of this.#started.reverse()) await each.end();
  }

  async #arm(target: { pid: number; marker: string }): Promise<Armed | undefined> {
    if (!this.#entry.needs.includes('two-phase')) return undefined;
    return this.#keep(await armAccessPath(this.#program, this.#entry.path, target));
  }

  async #finish(victim: Victim, armed: Armed | undefined): Promise<AccessPathResult> {
    const { needs, path } = this.#entry;
    const { facts } = needs.includes('child') ? await victim.fork() : victim;
    if (needs.includes('leader-gone')) await victim.tell('exit-leader');
    return armed ? armed.finish(facts) : tryAccessPath(this.#program, path, facts, this.#options);
  }

  #victimOptions(): VictimOptions {
    const { needs } = this.#entry;
    return {
      setproctitle: needs.includes('setproctitle'),
      ...(needs.includes('core-limit') ? { coreLimit: 1 } : {}),
      ...(needs.includes('tool') ? { toolFolder: this.#toolFolder() } : {}),
    };
  }

  #toolFolder(): string {
    const { path, remove } = temporaryFolder('tool');
    return this.#keep({ path, end: remove }).path;
  }

  #keep<T extends { end(): Promise<void> }>(started: T): T {
    this.#started.push(started);
    return started;
  }
}
