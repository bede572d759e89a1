import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Stoppable } from '../../test/support/types.ts';
import type { Job, JobResult } from './job.ts';
import { cpuSeconds, peakMebibytes } from './process-cost.ts';

/** Something that speaks S3: the bare store, the proxy, or what people would use in its place. */
export interface Contender extends Stoppable {
  readonly name: string;
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly pid: number;
  /** Process of the key server, whose time is taken out. */
  readonly keyServer?: number;
}

export interface Measured extends JobResult {
  /** CPU seconds of the contender's own process. */
  readonly cpu: number;
  /** CPU seconds of the key server. */
  readonly keyCpu: number;
  /** MiB, the highest since the contender started. */
  readonly peak: number;
}

export type Work = Omit<Job, 'endpoint' | 'region' | 'accessKeyId' | 'secretAccessKey'>;

const run = promisify(execFile);
const load = fileURLToPath(new URL('load.ts', import.meta.url));

/** Sends the work from a process of its own and tells what it cost. */
export async function measure(contender: Contender, work: Work): Promise<Measured> {
  const { endpoint, region, accessKeyId, secretAccessKey, pid, keyServer } = contender;
  const job: Job = { ...work, endpoint, region, accessKeyId, secretAccessKey };
  const before = cpuSeconds(pid);
  const keyBefore = keyServer === undefined ? 0 : cpuSeconds(keyServer);
  const { stdout } = await run(process.execPath, [load, JSON.stringify(job)]);
  const result: JobResult = JSON.parse(stdout);
  const keyCpu = keyServer === undefined ? 0 : cpuSeconds(keyServer) - keyBefore;
  return { ...result, cpu: cpuSeconds(pid) - before, keyCpu, peak: peakMebibytes(pid) };
}

const cores = 2;

/** Seconds that the work would have taken had the key server's CPU time been free; the cores are shared by all. */
export const withoutKeyServer = ({ seconds, keyCpu }: Measured): number => seconds - keyCpu / cores;
