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
  /** What goes on besides, until the load is over. */
  readonly beside?: (over: () => boolean) => Promise<void>;
}

/** Clients for so many minutes, each of which then reads everything that it holds. */
export async function runClients(
  { minutes, seed }: PartOptions,
  { s3, pid, clients, tally, beside, ...load }: ClientsOptions,
): Promise<Sample[]> {
  const end = performance.now() + minutes * 60_000;
  const over = () => performance.now() >= end;
  const callers = Array.from({ length: clients }, (_, number) => new SoakClient(number, seed, s3, tally));
  const loads = callers.map((caller) => runLoad(caller, { ...load, over }));
  const other = beside?.(over);
  const samples = await sampleUntil(pid, over);
  await Promise.all([...loads, other]);
  await Promise.all(callers.map(readAll));
  return samples;
}
