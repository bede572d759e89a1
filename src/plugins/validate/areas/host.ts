import { isAtLeast } from '../../../cluster/kube/server-version.ts';
import { softLimit, statusField } from '../../../runtime/native/process-status.ts';
import { type Check, failed, notEvaluated, passed, Skipped } from '../check.ts';
import { checkOf } from '../make-check.ts';
import { kernelVersion } from './cluster.ts';

/** A check of this machine as a node. */
const hostCheck = checkOf('node', ({ host }) => {
  if (host.platform !== 'linux') throw new Skipped(`This machine runs ${host.platform}; nodes run Linux.`);
  return host;
});

const kernel = hostCheck('SVC-HOST-001', 'error', {
  title: 'The kernel is Linux 5.15 or later',
  cause: 'memfd_secret came with Linux 5.14, and the node agent needs 5.15.',
  fix: 'Use a node image with a newer kernel.',
  run({ kernelRelease }) {
    const version = kernelVersion(kernelRelease);
    if (version === undefined) return notEvaluated('The kernel release is not a version number.');
    if (isAtLeast(version, 5, 15)) return passed(kernelRelease);
    const level = isAtLeast(version, 5, 14) ? 'warning' : 'error';
    return failed({ subject, level, message: `Its kernel is ${kernelRelease}.` });
  },
});

const secretMemory = hostCheck('SVC-HOST-002', 'warning', {
  title: 'Secret memory (memfd_secret) can be used',
  cause:
    'Kernels before 6.5 have it only with secretmem.enable=1 at boot, and a seccomp profile or a memory-lock limit can forbid it. Without it, secrets are in locked memory, which root can read.',
  fix: 'Boot with secretmem.enable=1, or use a kernel from 6.5 on, and a seccomp profile that permits memfd_secret.',
  async run(host) {
    const refusal = await host.trySecretMemory();
    return refusal === undefined ? passed() : failed({ subject, message: `It is refused: ${refusal}.` });
  },
});

const memoryLock = hostCheck('SVC-HOST-003', 'warning', {
  title: 'Memory can be locked without a limit',
  cause:
    'The wrapper locks all of its memory, and does not start if it cannot (SVC_REQUIRE_MLOCK). In pods the operator adds the capability IPC_LOCK; a service manager has its own limit.',
  fix: 'Set LimitMEMLOCK=infinity in the service unit, or add the capability IPC_LOCK to the container.',
  run({ read }) {
    const limits = read('/proc/self/limits');
    const status = read('/proc/self/status');
    if (limits === undefined || status === undefined) return notEvaluated('/proc is not mounted.');
    const limit = softLimit(limits, 'Max locked memory');
    if (limit === Number.POSITIVE_INFINITY) return passed('no limit');
    if (hasIpcLock(status)) return passed('by the capability IPC_LOCK');
    return failed({ subject, message: `${limit} bytes can be locked, and IPC_LOCK is not effective.` });
  },
});

const bpfLsm = hostCheck('SVC-HOST-004', 'warning', {
  title: 'BPF is an active security module of the kernel',
  cause:
    'bpf is not in the list of security modules that the kernel was booted with, so that tier 1 of the agent cannot work; tier 2 can.',
  fix: 'Add bpf to lsm= on the kernel command line, keep the present entries, and boot again.',
  run({ read }) {
    const modules = read(list)?.trim();
    if (modules === undefined) return notEvaluated(`${list} is not there: securityfs is not mounted.`);
    if (modules.split(',').includes('bpf')) return passed(modules);
    return failed({ subject, message: `Its security modules are ${modules}, without bpf.` });
  },
});

const btf = hostCheck('SVC-HOST-005', 'error', {
  title: 'The kernel has its type information (BTF)',
  cause: 'The kernel was built without CONFIG_DEBUG_INFO_BTF. No tier of the node agent works without it.',
  fix: 'Use a kernel with BTF; those of Debian 11, Ubuntu 20.10, RHEL 8.2 and later have it.',
  run: ({ exists }) => (exists(types) ? passed() : failed({ subject, message: `${types} is not there.` })),
});

const swap = hostCheck('SVC-HOST-006', 'warning', {
  title: 'Swap is off',
  cause:
    'The wrapper locks its memory, but the memory of applications is not locked: it can be written to disk.',
  fix: 'Turn swap off (swapoff -a, and in /etc/fstab), or keep it on an encrypted device.',
  run({ read }) {
    const text = read('/proc/swaps');
    if (text === undefined) return notEvaluated('/proc/swaps is not there.');
    const names = text
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(/\s/, 1)[0] ?? '');
    if (names.length === 0) return passed();
    return failed({ subject, message: `It swaps to ${names.join(', ')}.` });
  },
});

const corePattern = hostCheck('SVC-HOST-007', 'warning', {
  title: 'Core dumps are not piped to a program',
  cause:
    'core_pattern begins with a pipe, so the kernel passes the memory of a crashed process to a program, unless the limit on core files is 1. The wrapper sets 1 for what it starts; a process that only its pod label protects does not have this limit.',
  fix: 'Set kernel.core_pattern to a file name in /etc/sysctl.d, or have the program drop the dumps of protected pods.',
  run({ read }) {
    const pattern = read('/proc/sys/kernel/core_pattern')?.trim();
    if (pattern === undefined) return notEvaluated('/proc/sys/kernel/core_pattern is not there.');
    if (!pattern.startsWith('|')) return passed();
    return failed({ subject, message: `Core dumps go to ${pattern.slice(1).split(' ', 1)[0]}.` });
  },
});

const cgroups = hostCheck('SVC-HOST-008', 'error', {
  title: 'The node uses control groups of version 2',
  cause:
    'The agent identifies the processes of a pod, and the pod of a caller, by control groups of version 2.',
  fix: 'Boot with systemd.unified_cgroup_hierarchy=1, or use a node image with cgroup v2.',
  run: ({ exists }) =>
    exists('/sys/fs/cgroup/cgroup.controllers')
      ? passed()
      : failed({ subject, message: '/sys/fs/cgroup is not a hierarchy of version 2.' }),
});

const yama = hostCheck('SVC-HOST-009', 'info', {
  title: 'Processes cannot trace others of the same user',
  cause:
    'kernel.yama.ptrace_scope is 0 or the kernel has no Yama. The agent denies such access to protected processes; this setting covers other processes, and times without an agent.',
  fix: 'Set kernel.yama.ptrace_scope=1 or more in /etc/sysctl.d.',
  run({ read }) {
    const scope = read('/proc/sys/kernel/yama/ptrace_scope')?.trim();
    if (scope === undefined) return failed({ subject, message: 'Its kernel has no Yama.' });
    return scope === '0'
      ? failed({ subject, message: 'ptrace_scope is 0.' })
      : passed(`ptrace_scope ${scope}`);
  },
});

export const hostChecks: readonly Check[] = [
  kernel,
  secretMemory,
  memoryLock,
  bpfLsm,
  btf,
  swap,
  corePattern,
  cgroups,
  yama,
];

const types = '/sys/kernel/btf/vmlinux';

const list = '/sys/kernel/security/lsm';

const ipcLock = 14n;

function hasIpcLock(status: string): boolean {
  return ((BigInt(`0x${statusField(status, 'CapEff') ?? '0'}`) >> ipcLock) & 1n) === 1n;
}

/** The subject of a failure. */
const subject = 'this machine';
