import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findCgroupRoot } from '../../src/plugins/agent/pods/pod-cgroups.ts';
import { removeTree } from './cgroups.ts';
import { ToolUnavailable } from './tool-unavailable.ts';
import { waitFor } from './wait-for.ts';

const periodUs = 20_000;

/** Processor time as a container with a limit is given it. */
export interface CpuCgroup {
  /** Once its processes have ended. */
  remove(): Promise<void>;
}

/**
 * Holds a process to `share` of a processor.
 * @throws ToolUnavailable where cgroups cannot be made, as without root
 */
export function createCpuCgroup(pid: number, share: number): CpuCgroup {
  try {
    const folder = limited(Math.round(share * periodUs));
    writeFileSync(join(folder, 'cgroup.procs'), String(pid));
    return { remove: () => waitFor(`${folder} to be empty`, () => removeTree(folder)).then(() => undefined) };
  } catch (cause) {
    throw new ToolUnavailable('cgroup cpu', cause instanceof Error ? cause.message : String(cause), {
      cause,
    });
  }
}

function limited(quotaUs: number): string {
  const version1 = '/sys/fs/cgroup/cpu';
  if (existsSync(join(version1, 'cpu.cfs_quota_us'))) {
    const folder = mkdtempSync(join(version1, 'svc-test-'));
    writeFileSync(join(folder, 'cpu.cfs_period_us'), String(periodUs));
    writeFileSync(join(folder, 'cpu.cfs_quota_us'), String(quotaUs));
    return folder;
  }
  const root = findCgroupRoot('/sys/fs/cgroup');
  if (root === undefined) throw new Error('it is not mounted');
  writeFileSync(join(root, 'cgroup.subtree_control'), '+cpu');
  const folder = mkdtempSync(join(root, 'svc-test-'));
  writeFileSync(join(folder, 'cpu.max'), `${quotaUs} ${periodUs}`);
  return folder;
}
