import { readdirSync } from 'node:fs';
import {
  createGuard,
  type GuardOptions,
  type StartingGuard,
} from '../../../../../src/plugins/agent/guard/create-guard.ts';
import type { Tallies } from '../../../../../src/plugins/agent/guard/map-readings.ts';
import { linkFolders, unpinAll } from '../../../../../src/plugins/agent/guard/program-set.ts';
import type { AccessEvent } from '../../../../../src/runtime/protocols/protection/bpf-layouts.ts';
import { recordingLog } from '../../access-events/recording-log.ts';
import { eachAccessEvent } from '../../guard/each-access-event.ts';

/** Where attacks are tried, and on what. */
export interface Plan {
  /** The program of test/tools/bypass. */
  readonly bypass: string;
  /** The program of `asker.ts`. */
  readonly asker: string;
  /** On a BPF file system. */
  readonly bpf: string;
  readonly tier: 1 | 2 | 3;
}

export interface Scene extends Plan {
  /** One for all attacks that leave it was; started when it is asked for first. */
  shared(): Promise<Watched>;
  /** One with tables of its own, which the next one of that name finds again. */
  fresh(name: string, options?: FreshOptions): Promise<Watched>;
  close(): Promise<void>;
}

export interface FreshOptions
  extends Partial<Pick<GuardOptions, 'tiers' | 'intervalMs' | 'kill' | 'enforce'>> {
  /** What is done before it is started. */
  readonly before?: (guard: StartingGuard) => void;
}

/** A guard, and what it has told. */
export interface Watched {
  readonly guard: StartingGuard;
  readonly folder: string;
  readonly hits: readonly AccessEvent[];
  readonly tallies: Tallies | undefined;
  /** How often it has logged that. */
  logged(event: string): number;
  /** Names of the programs that are attached. */
  attached(): readonly string[];
}

export function createScene(plan: Plan): Scene {
  const all: Watched[] = [];
  let shared: Promise<Watched> | undefined;
  const fresh = async (name: string, options: FreshOptions = {}) => {
    const watched = watch(plan, name, options);
    all.push(watched);
    options.before?.(watched.guard);
    await watched.guard.start();
    // an attack on programs that are not there would wait for them until its time is up
    const { tier, passedOver } = watched.guard.status;
    if (tier === undefined) throw new Error(`The guard "${name}" has no tier: ${JSON.stringify(passedOver)}`);
    return watched;
  };
  return {
    ...plan,
    fresh,
    shared() {
      shared ??= fresh('shared');
      return shared;
    },
    async close() {
      for (const { guard } of all) await guard.close();
      for (const { folder } of all) unpinAll(folder);
    },
  };
}

function watch({ bpf, tier }: Plan, name: string, { before, ...options }: FreshOptions): Watched {
  const { log, lines } = recordingLog();
  const folder = `${bpf}/${name}`;
  const hits: AccessEvent[] = [];
  let tallies: Tallies | undefined;
  const guard = createGuard({
    ...{ folder, enforce: true, kill: true, tiers: [tier], intervalMs: 200, log },
    onTallies(now) {
      tallies = now;
    },
    onCanary() {},
    ...options,
  });
  guard.onHit(eachAccessEvent((hit) => hits.push(hit)));
  return {
    ...{ guard, folder, hits },
    get tallies() {
      return tallies;
    },
    logged: (event) => lines.filter((line) => line.event === event).length,
    attached: () => linkFolders(folder).flatMap((path) => readdirSync(path)),
  };
}
