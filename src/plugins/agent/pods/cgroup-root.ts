import { statfsSync } from 'node:fs';
import { join } from 'node:path';

/** CGROUP2_SUPER_MAGIC */
const cgroup2 = 0x63677270;

/**
 * Where cgroup v2 is mounted: the folder itself, or `unified` in it where the host has v1 beside it.
 * @returns undefined where it is in neither
 */
export function findCgroupRoot(folder: string): string | undefined {
  return [folder, join(folder, 'unified')].find(isCgroup2);
}

function isCgroup2(folder: string): boolean {
  try {
    return statfsSync(folder).type === cgroup2;
  } catch {
    return false;
  }
}
