import { availableParallelism } from 'node:os';
import type { S3Target, Stoppable } from '../../test/support/types.ts';
import { median } from '../harness/median.ts';
import type { Job, JobResult } from './job.ts';
import type { LoadProcess } from './load-process.ts';
import { cpuSeconds, forgetPeak, peakMebibytes } from './process-cost.ts';

/** Something that speaks S3: the bare store, the proxy, or what people would use in its place. */
export interface Contender extends Stoppable {
  readonly name: string;
  readonly target: S3Target;
  readonly pid: number;
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
}

/** Sends the work from the load process and tells what it cost. */
export async function measure(
  load: LoadProcess,
  { target, pid, keyServer }: Contender,
  work: Omit<Job, 'target'>,
): Promise<Measured> {
  forgetPeak(pid);
  const keyCpuSoFar = () => (keyServer === undefined ? 0 : cpuSeconds(keyServer));
  const [before, keyBefore] = [cpuSeconds(pid), keyCpuSoFar()];
  const result = await load.run({ ...work, target });
  return {
    ...result,
    cpu: cpuSeconds(pid) - before,
    keyCpu: keyCpuSoFar() - keyBefore,
    peak: peakMebibytes(pid),
  };
}

const cores = availableParallelism();

/** Requests a second, had the key server's CPU time been free; the cores are shared by all. */
export const rateWithoutKeyServer = ({ requests, seconds, keyCpu }: Measured): number =>
  requests / (seconds - keyCpu / cores);

/** The middle one of the rounds. */
export const middle = (rounds: readonly Measured[], pick: (one: Measured) => number): number =>
  median(rounds.map(pick));
