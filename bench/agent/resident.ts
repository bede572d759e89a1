import { readFileSync } from 'node:fs';

/** Resident memory of one process, in MiB. */
export interface Resident {
  readonly all: number;
  /** Of it what is the process's own; the rest is pages of files, which the system can drop. */
  readonly own: number;
  /** The most so far. */
  readonly peak: number;
}

export function residentOf(pid: number): Resident {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024;
  return { all: field('VmRSS'), own: field('RssAnon'), peak: field('VmHWM') };
}
