import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCgroupRoot } from '../../src/plugins/agent/pods/pod-cgroups.ts';
import { removeTree } from './cgroups.ts';
import { ToolUnavailable } from './tool-unavailable.ts';
import { waitFor } from './wait-for.ts';

/** Memory as a container is given it: what does not fit is reclaimed, and where that is not enough a process is killed. */
export interface MemoryCgroup {
  /** A command that executes the rest of its arguments, in there. */
  readonly under: readonly string[];
  /** How many processes were killed for want of memory. */
  killed(): number;
  /** Once its processes have ended. */
  remove(): Promise<void>;
}

interface Names {
  readonly limit: string;
  readonly events: string;
}

const version1: Names = { limit: 'memory.limit_in_bytes', events: 'memory.oom_control' };
const version2: Names = { limit: 'memory.max', events: 'memory.events' };

/** @throws ToolUnavailable where cgroups cannot be made, as without root */
export function createMemoryCgroup(bytes: number): MemoryCgroup {
  const { folder, names } = ownCgroup();
  writeFileSync(join(folder, names.limit), String(bytes));
  return {
    under: ['/bin/sh', '-ec', 'echo $$ > "$0/cgroup.procs"; exec "$@"', folder],
    killed() {
      const [, count] = /^oom_kill (\d+)$/m.exec(readFileSync(join(folder, names.events), 'utf8')) ?? [];
      return Number(count);
    },
    async remove() {
      await waitFor(`${folder} to be empty`, () => removeTree(folder));
    },
  };
}

function ownCgroup(): { folder: string; names: Names } {
  try {
    const alone = '/sys/fs/cgroup/memory';
    if (existsSync(join(alone, version1.limit)))
      return { folder: mkdtempSync(join(alone, 'svc-test-')), names: version1 };
    const root = findCgroupRoot('/sys/fs/cgroup');
    if (root === undefined) throw new Error('it is not mounted');
    writeFileSync(join(root, 'cgroup.subtree_control'), '+memory');
    return { folder: mkdtempSync(join(root, 'svc-test-')), names: version2 };
  } catch (cause) {
    throw new ToolUnavailable('cgroup memory', cause instanceof Error ? cause.message : String(cause), {
      cause,
    });
  }
}
