import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../../../bench/harness/median.ts';
import { family, residentMemory } from '../../support/process-memory.ts';

const everyMs = 500;

export interface Sample {
  /** Resident bytes. */
  readonly rss: number;
  /** Open file descriptors. */
  readonly files: number;
}

/** Looks at a process and its children until `over`. */
export async function sampleUntil(pid: number, over: () => boolean): Promise<Sample[]> {
  const samples: Sample[] = [];
  while (!over()) {
    samples.push({ rss: residentMemory(pid).now, files: openFiles(pid) });
    await sleep(everyMs);
  }
  return samples;
}

const openFiles = (pid: number): number =>
  family(pid).reduce((sum, member) => sum + readdirSync(`/proc/${member}/fd`).length, 0);

/** The median over a tenth of the run that ends at `fraction` of it: one sample is chance. */
export function around(samples: readonly Sample[], fraction: number): Sample {
  const end = Math.max(1, Math.ceil(samples.length * fraction));
  const tenth = samples.slice(Math.max(0, end - Math.ceil(samples.length / 10)), end);
  return { rss: median(tenth.map(({ rss }) => rss)), files: median(tenth.map(({ files }) => files)) };
}
