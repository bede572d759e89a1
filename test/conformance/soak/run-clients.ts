import type { S3Client } from '@aws-sdk/client-s3';
import type { PartOptions } from '../part.ts';
import { SoakClient } from './client.ts';
import { type LoadOptions, readAll, runLoad } from './load.ts';
import { type Sample, sampleUntil } from './samples.ts';
import type { Tally } from './tally.ts';

export interface ClientsOptions extends Omit<LoadOptions, 'over'> {
  readonly s3: S3Client;
  /** The proxy's. */
  readonly pid: number;
  readonly clients: number;
  readonly tally: Tally;
  /** Told every five minutes how it goes. */
  readonly say: (text: string) => void;
  /** What goes on besides, until the load is over. */
  readonly beside?: (over: () => boolean) => Promise<void>;
}

const progressMs = 5 * 60_000;

/** Clients for so many minutes, each of which then reads everything that it holds. */
export async function runClients(
  { minutes, seed }: PartOptions,
  { s3, pid, clients, tally, say, beside, ...load }: ClientsOptions,
): Promise<Sample[]> {
  const end = performance.now() + minutes * 60_000;
  const over = () => performance.now() >= end;
  const callers = Array.from({ length: clients }, (_, number) => new SoakClient(number, seed, s3, tally));
  const loads = callers.map((caller) => runLoad(caller, { ...load, over }));
  const other = beside?.(over);
  const begun = performance.now();
  const progress = setInterval(() => {
    const passed = Math.round((performance.now() - begun) / 60_000);
    const requests = [...tally.done.values()].reduce((sum, count) => sum + count, 0);
    say(`after ${passed} min: ${requests} requests, ${tally.errors} failed, ${tally.differences} differ`);
  }, progressMs);
  const samples = await sampleUntil(pid, over).finally(() => clearInterval(progress));
  await Promise.all([...loads, other]);
  await Promise.all(callers.map(readAll));
  return samples;
}
