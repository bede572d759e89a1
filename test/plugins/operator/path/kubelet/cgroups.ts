import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../../../../support/cgroups.ts';

const mounted = '/sys/fs/cgroup';

/** Removes a cgroup and those below it, which are empty, from each hierarchy that there is. */
export function removeCgroups(name: string): void {
  const hierarchies = [mounted, ...readdirSync(mounted).map((entry) => join(mounted, entry))];
  for (const hierarchy of hierarchies) {
    if (existsSync(join(hierarchy, name))) removeTree(join(hierarchy, name));
  }
}
