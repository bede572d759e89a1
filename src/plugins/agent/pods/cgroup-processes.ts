import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isGone, namesIn } from './folders.ts';

const deepest = 8;

/** PIDs of the processes in a cgroup and below it, as this process's PID namespace numbers them. */
export function processesIn(path: string, depth = 0): number[] {
  if (depth > deepest) return [];
  const below = namesIn(path).flatMap((name) => processesIn(join(path, name), depth + 1));
  return [...processesOf(path), ...below];
}

/** Those of other PID namespaces read as 0. A threaded cgroup does not list any: its parent does. */
function processesOf(path: string): number[] {
  try {
    const lines = readFileSync(join(path, 'cgroup.procs'), 'utf8').split('\n');
    return lines.map(Number).filter((pid) => pid > 0);
  } catch (error) {
    if (isGone(error) || (error as NodeJS.ErrnoException).code === 'EOPNOTSUPP') return [];
    throw error;
  }
}
