import { availableParallelism } from 'node:os';
import type { S3Target, Stoppable } from '../../test/support/types.ts';
import { median } from '../harness/median.ts';
import type { Job, JobResult } from './job.ts';
import type { LoadProcess } from './load-process.ts';
import { cpuSeconds, forgetPeak, machineSeconds, peakMebibytes } from './process-cost.ts';

const cores = availableParallelism();

/** Something that speaks S3: the bare store, the proxy, or what people would use in its place. */
export interface Contender extends Stoppable {
  readonly name: string;
  readonly target: S3Target;
  readonly pid: number;
  /** Process of the store behind it. */
  readonly store?: number;
  /** Process of the key server, whose time is taken out. */
  readonly keyServer?: number;
  /** Whether it, or what is behind it, is reached by TLS: then the bare store to compare with is, too. */
  readonly tls: boolean;
}

export interface Measured extends JobResult {
  /** CPU seconds of the contender's own processes. */
  readonly cpu: number;
  /** CPU seconds of the key server. */
  readonly keyCpu: number;
  /** MiB, the highest of this measurement. */
  readonly peak: number;
  /** Share of the machine that went to anything else, this process included: 0 on a quiet one. */
  readonly others: number;
}

/** Sends the work from the load process and tells what it cost. */
export async function measure(
  load: LoadProcess,
  { target, pid, store, keyServer }: Contender,
  work: Omit<Job, 'target'>,
): Promise<Measured> {
  forgetPeak(pid);
  const read = () => ({
    own: cpuSeconds(pid),
    store: store === undefined ? 0 : cpuSeconds(store),
    keys: keyServer === undefined ? 0 : cpuSeconds(keyServer),
    machine: machineSeconds(),
    now: performance.now() / 1000,
  });
  const from = read();
  const result = await load.run({ ...work, target });
  const to = read();
  const spent = (of: keyof typeof from) => to[of] - from[of];
  const others = spent('machine') - spent('own') - spent('store') - spent('keys') - result.loadCpu;
  return {
    ...result,
    cpu: spent('own'),
    keyCpu: spent('keys'),
    peak: peakMebibytes(pid),
    others: Math.max(0, others / (spent('now') * cores)),
  };
}

/** Requests a second, had the key server's CPU time been free; the cores are shared by all. */
export const rateWithoutKeyServer = ({ requests, seconds, keyCpu }: Measured): number =>
  requests / (seconds - keyCpu / cores);

/** The middle one of the rounds. */
export const middle = (rounds: readonly Measured[], pick: (one: Measured) => number): number =>
  median(rounds.map(pick));

/** Below a table: what went to processes that have nothing to do with it. */
export function disturbance(all: readonly Measured[]): string {
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const shares = all.map(({ others }) => others);
  return `Other processes took ${percent(median(shares))} of the machine (median; at most ${percent(Math.max(...shares))}).`;
}
