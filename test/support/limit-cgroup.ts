import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCgroupRoot } from '../../src/plugins/agent/pods/pod-cgroups.ts';
import { removeTree } from './cgroups.ts';
import { ToolUnavailable } from './tool-unavailable.ts';
import { waitFor } from './wait-for.ts';

interface LimitCgroup {
  /** Once its processes have ended. */
  remove(): Promise<void>;
}

/** Memory as a container is given it: what does not fit is reclaimed, and where that is not enough a process is killed. */
export interface MemoryCgroup extends LimitCgroup {
  /** A command that executes the rest of its arguments, in there. */
  readonly under: readonly string[];
  /** How many processes were killed for want of memory. */
  killed(): number;
  /** Most memory of all of them at once, in bytes; 0 where the kernel does not tell. */
  peak(): number;
}

/** @throws ToolUnavailable where cgroups cannot be made, as without root */
export function createMemoryCgroup(bytes: number): MemoryCgroup {
  const limit = 'memory.limit_in_bytes';
  const { version, folder } = ownCgroup('memory', limit);
  const events = join(folder, version === 1 ? 'memory.oom_control' : 'memory.events');
  writeFileSync(join(folder, version === 1 ? limit : 'memory.max'), String(bytes));
  return {
    under: ['/bin/sh', '-ec', 'echo $$ > "$0/cgroup.procs"; exec "$@"', folder],
    killed() {
      const [, count] = /^oom_kill (\d+)$/m.exec(readFileSync(events, 'utf8')) ?? [];
      return Number(count);
    },
    peak() {
      const file = join(folder, version === 1 ? 'memory.max_usage_in_bytes' : 'memory.peak');
      return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    },
    remove: () => removeEmpty(folder),
  };
}

const periodUs = 20_000;

/**
 * Holds a process to `share` of a processor, as a container with a limit is.
 * @throws ToolUnavailable where cgroups cannot be made, as without root
 */
export function createCpuCgroup(pid: number, share: number): LimitCgroup {
  const limit = 'cpu.cfs_quota_us';
  const { version, folder } = ownCgroup('cpu', limit);
  const quotaUs = Math.round(share * periodUs);
  if (version === 2) writeFileSync(join(folder, 'cpu.max'), `${quotaUs} ${periodUs}`);
  else {
    writeFileSync(join(folder, 'cpu.cfs_period_us'), String(periodUs));
    writeFileSync(join(folder, limit), String(quotaUs));
  }
  writeFileSync(join(folder, 'cgroup.procs'), String(pid));
  return { remove: () => removeEmpty(folder) };
}

/** @param limit file of the controller in cgroup version 1, by which its own hierarchy is known */
function ownCgroup(controller: 'cpu' | 'memory', limit: string): { version: 1 | 2; folder: string } {
  try {
    const alone = `/sys/fs/cgroup/${controller}`;
    if (existsSync(join(alone, limit))) return { version: 1, folder: mkdtempSync(join(alone, 'svc-test-')) };
    const root = findCgroupRoot('/sys/fs/cgroup');
    if (root === undefined) throw new Error('it is not mounted');
    writeFileSync(join(root, 'cgroup.subtree_control'), `+${controller}`);
    return { version: 2, folder: mkdtempSync(join(root, 'svc-test-')) };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ToolUnavailable(`cgroup ${controller}`, reason, { cause });
  }
}

async function removeEmpty(folder: string): Promise<void> {
  await waitFor(`${folder} to be empty`, () => removeTree(folder));
}
