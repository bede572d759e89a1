import { readdirSync, readlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../../../bench/harness/median.ts';
import { family, residentMemory } from '../../support/process-memory.ts';

const everyMs = 500;

export interface Sample {
  /** Resident bytes. */
  readonly rss: number;
  /** Open file descriptors but those of spooled bodies. */
  readonly files: number;
  /** Bodies on disk, which the proxy keeps for a minute after their last use. */
  readonly spooled: number;
}

/** Looks at a process and its children until `over`. */
export async function sampleUntil(pid: number, over: () => boolean): Promise<Sample[]> {
  const samples: Sample[] = [];
  while (!over()) {
    samples.push({ rss: residentMemory(pid).now, ...openFiles(pid) });
    await sleep(everyMs);
  }
  return samples;
}

function openFiles(pid: number): Pick<Sample, 'files' | 'spooled'> {
  const targets = family(pid).flatMap((member) =>
    readdirSync(`/proc/${member}/fd`).map((name) => targetOf(`/proc/${member}/fd/${name}`)),
  );
  const spooled = targets.filter((target) => target.includes('/.svc-spool-')).length;
  return { files: targets.length - spooled, spooled };
}

/** It may have been closed since it was listed. */
function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}

/** The median over a tenth of the run that ends at `fraction` of it: one sample is chance. */
export function around(samples: readonly Sample[], fraction: number): Sample {
  const end = Math.max(1, Math.ceil(samples.length * fraction));
  const tenth = samples.slice(Math.max(0, end - Math.ceil(samples.length / 10)), end);
  const middle = (pick: (sample: Sample) => number) => median(tenth.map(pick));
  return {
    rss: middle(({ rss }) => rss),
    files: middle(({ files }) => files),
    spooled: middle(({ spooled }) => spooled),
  };
}
