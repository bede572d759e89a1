import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processesIn } from '../../src/plugins/agent/pods/cover-pods.ts';
import { findCgroupRoot } from '../../src/plugins/agent/pods/pod-cgroups.ts';
import { reapProcess } from './reaper.ts';
import { ToolUnavailable } from './tool-unavailable.ts';
import { waitFor } from './wait-for.ts';

export interface TestCgroups {
  /** A cgroup (v2) of one's own; nothing else is in it. */
  readonly root: string;
  /** Makes the cgroup, and those above it. @returns its id */
  make(path: string): bigint;
  /** Starts a process in the cgroup that does nothing. */
  startIn(path: string): Promise<CgroupProcess>;
  /** Ends what is in the cgroup and removes it, with those below it. */
  remove(path: string): Promise<void>;
  /** Removes it all. */
  stop(): Promise<void>;
}

export interface CgroupProcess {
  readonly pid: number;
  end(): Promise<void>;
}

/** @throws ToolUnavailable where cgroups cannot be made, as without root */
export function createCgroups(): TestCgroups {
  const root = ownRoot();
  const processes = new Set<CgroupProcess>();
  const remove = async (path: string) => {
    const folder = join(root, path);
    const inside = new Set(processesIn(folder));
    await Promise.all([...processes].filter(({ pid }) => inside.has(pid)).map((each) => each.end()));
    await waitFor(`${folder} to be empty`, () => removeTree(folder));
  };
  return {
    root,
    make(path) {
      mkdirSync(join(root, path), { recursive: true });
      return statSync(join(root, path), { bigint: true }).ino;
    },
    async startIn(path) {
      const child = spawn('sleep', ['600'], { stdio: 'ignore' });
      const pid = child.pid as number;
      const exited = once(child, 'exit');
      child.once('exit', reapProcess(pid));
      writeFileSync(join(root, path, 'cgroup.procs'), String(pid));
      const process = {
        pid,
        async end() {
          child.kill('SIGKILL');
          await exited;
          processes.delete(process);
        },
      };
      processes.add(process);
      return process;
    },
    remove,
    async stop() {
      await Promise.all([...processes].map((each) => each.end()));
      await remove('.');
    },
  };
}

function ownRoot(): string {
  try {
    const mounted = findCgroupRoot('/sys/fs/cgroup');
    if (mounted === undefined) throw new Error('it is not mounted');
    return mkdtempSync(join(mounted, 'svc-test-'));
  } catch (cause) {
    throw new ToolUnavailable('cgroup v2', cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

/** Removes a cgroup and those below it, whose processes have ended; the files in a cgroup go with it. */
export function removeTree(folder: string): true {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeTree(join(folder, entry.name));
  }
  rmdirSync(folder);
  return true;
}
