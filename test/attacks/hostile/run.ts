import type { HostileBed, RunningMode } from './bed.ts';
import { runCallerCase } from './cases/caller-case.ts';
import { runStoreCase } from './cases/store-case.ts';
import { Choices } from './choices.ts';
import { CaseMind } from './mind.ts';
import { World } from './world.ts';

export interface RunOptions {
  readonly seed: number;
  /** At least so many requests of callers, each of which is judged. */
  readonly requests: number;
  /** Only this case, with all that it did. */
  readonly only?: number;
  /** The case that comes first. Default 0. */
  readonly from?: number;
  /** Told now and then. */
  readonly onProgress?: (progress: Progress) => void;
  /** Told of each failure as it is found. */
  readonly onFailure?: (failure: Failure) => void;
}

export interface Progress {
  /** Judged until now. */
  readonly requests: number;
  /** Every case before it has ended: a run that was interrupted goes on from it. */
  readonly from: number;
  readonly failures: number;
}

export interface Failure {
  readonly number: number;
  /** How many requests the run had judged by then. */
  readonly after: number;
  readonly wrong: readonly string[];
  readonly steps: readonly string[];
}

export interface RunResult {
  readonly failures: readonly Failure[];
  /** What only one case was asked for did. */
  readonly shown: readonly string[];
  /** How often each kind of outcome was seen, so that a run in which nothing happened is no success. */
  readonly tally: ReadonlyMap<string, number>;
}

/** Cases wait more than they work. */
const atOnce = 48;
const mostFailures = 10;
const casesPerLine = 200;

/** Runs cases of a seed side by side, each of some dozen requests; the same seed and number make the same case. */
export async function runCases(
  bed: HostileBed,
  { seed, requests, only, from = 0, onProgress, onFailure }: RunOptions,
): Promise<RunResult> {
  const failures: Failure[] = [];
  const tally = new Map<string, number>();
  const judged = () => tally.get('requests') ?? 0;
  const run = async (number: number) => {
    const { wrong, steps } = await runOne(bed, seed, number, tally);
    if (wrong.length === 0) return steps;
    const failure = { number, after: judged(), wrong, steps };
    failures.push(failure);
    onFailure?.(failure);
    return steps;
  };
  if (only !== undefined) return { shown: await run(only), failures, tally };
  let next = from;
  const running = new Set<number>();
  const worker = async () => {
    while (judged() < requests && failures.length < mostFailures) {
      const number = next++;
      running.add(number);
      await run(number);
      running.delete(number);
      if (number % casesPerLine === 0)
        onProgress?.({ requests: judged(), from: Math.min(next, ...running), failures: failures.length });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return { failures, shown: [], tally };
}

type Told = Pick<Failure, 'wrong' | 'steps'>;

/** A quarter of the cases has a hostile caller, the others a hostile store. */
async function runOne(
  bed: HostileBed,
  seed: number,
  number: number,
  tally: Map<string, number>,
): Promise<Told> {
  const choices = new Choices(`${seed}/${number}`);
  return choices.chance(0.25)
    ? callerCase(bed, seed, number, choices, tally)
    : storeCase(bed, seed, number, choices, tally);
}

async function callerCase(
  bed: HostileBed,
  seed: number,
  number: number,
  choices: Choices,
  tally: Map<string, number>,
): Promise<Told> {
  const buckets = [`case-${seed}-${number}`, `other-${seed}-${number}`];
  const minds = buckets.map((bucket) => {
    const mind = new CaseMind({
      name: bucket,
      bucket: bed.store.s3.bucket(bucket),
      world: new World(),
      keepHeads: true,
    });
    bed.store.minds.set(bucket, mind);
    return mind;
  });
  try {
    const mode = choices.pick(bed.modes);
    const [bucket = '', otherBucket = ''] = buckets;
    const one = await runCallerCase({ bucket, otherBucket, choices, mode, minds });
    count(tally, 'requests', one.requests);
    for (const step of one.steps) {
      const answer = /-> (\d)\d* \(/.exec(step)?.[1];
      if (answer !== undefined) count(tally, `caller ${answer}xx`);
    }
    return one;
  } finally {
    for (const bucket of buckets) {
      bed.store.minds.delete(bucket);
      bed.store.s3.forget(bucket);
    }
  }
}

async function storeCase(
  bed: HostileBed,
  seed: number,
  number: number,
  choices: Choices,
  tally: Map<string, number>,
): Promise<Told> {
  const name = `${seed}/${number}`;
  const bucket = `case-${seed}-${number}`;
  const world = new World();
  const stored = bed.store.s3.bucket(bucket);
  const mind = new CaseMind({ name, bucket: stored, world });
  bed.store.minds.set(bucket, mind);
  const modes = modesFor(bed, choices);
  try {
    const one = await runStoreCase({ bucket, choices, modes, mind, stored, world });
    for (const step of one.steps) {
      const outcome = /(\w+) .* -> (\d)\d\d( broken)?/.exec(step);
      if (outcome) count(tally, `${outcome[1]} ${outcome[2]}xx${outcome[3] ?? ''}`);
    }
    for (const step of one.steps)
      if (step.startsWith('   lie: ')) count(tally, `lie: ${step.slice(8).split(':')[0]}`);
    count(tally, 'requests', one.requests);
    return one;
  } finally {
    bed.store.minds.delete(bucket);
    bed.store.s3.forget(bucket);
  }
}

/** All that bind to the key alone understand each other. */
function modesFor({ modes }: HostileBed, choices: Choices): readonly RunningMode[] {
  const own = choices.pick(modes);
  const bindsBucket = (mode: RunningMode) => mode.args.includes('bucket-key');
  return [own, ...modes.filter((mode) => mode !== own && bindsBucket(mode) === bindsBucket(own))];
}

const count = (tally: Map<string, number>, what: string, by = 1) =>
  tally.set(what, (tally.get(what) ?? 0) + by);

/** How to see one failing case again. */
export const shownFailure = (seed: number, { number, after, wrong, steps }: Failure): string =>
  [
    `case ${number}, after ${after} requests: ${wrong.join('; ')}`,
    `  npm run conformance -- hostile --seed ${seed} --case ${number}`,
    ...steps.map((step) => `    ${step.slice(0, 400)}`),
  ].join('\n');
