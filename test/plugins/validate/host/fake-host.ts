import type { Host } from '../../../../src/plugins/validate/check.ts';

const files: Readonly<Record<string, string>> = {
  '/proc/self/limits': 'Max locked memory         unlimited            unlimited            bytes\n',
  '/proc/self/status': 'CapEff:\t0000000000000000\n',
  '/sys/kernel/security/lsm': 'lockdown,capability,yama,bpf\n',
  '/sys/kernel/btf/vmlinux': '',
  '/proc/swaps': 'Filename\tType\tSize\tUsed\tPriority\n',
  '/proc/sys/kernel/core_pattern': 'core\n',
  '/sys/fs/cgroup/cgroup.controllers': 'cpu memory\n',
  '/proc/sys/kernel/yama/ptrace_scope': '1\n',
};

export interface FakeHost extends Partial<Host> {
  /** By path; undefined where there is none. */
  readonly files?: Readonly<Record<string, string | undefined>>;
}

/** A node on which nothing is wrong, but for the changes. */
export function fakeHost(changes: FakeHost = {}): Host {
  const all: Readonly<Record<string, string | undefined>> = { ...files, ...changes.files };
  return {
    platform: 'linux',
    kernelRelease: '6.1.0-18-amd64',
    nodeVersion: 'v24.21.0',
    read: (path) => all[path],
    exists: (path) => all[path] !== undefined,
    hasProgram: () => true,
    trySecretMemory: async () => undefined,
    ...changes,
  };
}
