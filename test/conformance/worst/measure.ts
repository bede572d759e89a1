import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMemory } from '../../support/process-memory.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { AnswerKind, Target, WorstInput } from './input.ts';
import type { Prober, Probes } from './prober.ts';

/** What an input, or a mixture of them, did to a component. */
export interface Measured {
  readonly name: string;
  /** How many were sent. */
  readonly count: number;
  /** Most resident memory in bytes; 0: it did not live to tell. */
  readonly peak: number;
  readonly kills: number;
  /** It ended, killed or not. */
  readonly ended: boolean;
  readonly probes: Probes;
  /** How often each came, those that may not first. */
  readonly outcomes: ReadonlyMap<AnswerKind, number>;
  readonly wrong: readonly string[];
  readonly seconds: number;
}

/** After an input, so that what it left behind is seen, too. */
const restMs = 300;

/** Sends an input so many times at once. */
export const measure = (
  target: Target,
  prober: Prober,
  input: WorstInput,
  count: number,
): Promise<Measured> =>
  measured(target, prober, input.name, async (note) => {
    await Promise.all(Array.from({ length: count }, async () => note(input, await input.send())));
  });

/** Sends inputs by chance, so many at a time, for some time. */
export const measureMixed = (
  target: Target,
  prober: Prober,
  { inputs, choose, lastsMs, atOnce }: Mixture,
): Promise<Measured> =>
  measured(target, prober, 'all of them, mixed', async (note) => {
    const end = performance.now() + lastsMs;
    const send = async () => {
      while (performance.now() < end && isAlive(target.pid)) {
        const input = inputs[choose(inputs.length)] as WorstInput;
        // whoever is slow while others wait gives way
        note({ ...input, outcomes: [...input.outcomes, 'ended'] }, await input.send());
      }
    };
    await Promise.all(Array.from({ length: atOnce }, send));
  });

export interface Mixture {
  readonly inputs: readonly WorstInput[];
  /** A number from 0 to `count` - 1. */
  readonly choose: (count: number) => number;
  readonly lastsMs: number;
  readonly atOnce: number;
}

type Note = (input: WorstInput, outcome: AnswerKind) => void;

async function measured(
  target: Target,
  prober: Prober,
  name: string,
  work: (note: Note) => Promise<void>,
): Promise<Measured> {
  const { pid } = target;
  forgetPeak(pid);
  const killed = target.killed();
  const outcomes = new Map<AnswerKind, number>();
  const wrong = new Set<string>();
  let count = 0;
  const begun = performance.now();
  prober.begin({ url: target.healthz, pid });
  await work((input, outcome) => {
    count += 1;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (outcome !== 503 && !input.outcomes.includes(outcome)) wrong.add(`${input.name}: ${outcome}`);
  });
  await sleep(restMs);
  const probes = await prober.end();
  const ended = !isAlive(pid);
  const peak = ended ? 0 : residentMemory(pid).peak;
  const seconds = (performance.now() - begun) / 1_000;
  const kills = target.killed() - killed;
  if (ended) await revived(target);
  return { name, count, peak, kills, ended, probes, outcomes, wrong: [...wrong], seconds };
}

async function revived(target: Target): Promise<void> {
  await target.restart();
  await waitFor(`${target.name} to be up`, async () => (await fetch(target.healthz)).ok);
}

/** A process that ended and was not waited for is still there. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'latin1'));
  } catch {
    return false;
  }
}

/** The kernel then counts the most resident memory from now on. */
function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
