import type { AccessPath } from '../../../../src/runtime/protocols/protection/bpf-layouts.ts';

/** What becomes of an attempt: `open` means that it succeeds and nobody is told. */
export type Fate = 'denied' | 'killed' | 'refused' | 'open';

/** One attack path of the program test/tools/bypass, or one thing that happens to a process before somebody takes the first. */
export interface AccessPathRow {
  readonly path: string;
  readonly title: string;
  /** How hits name it, and the system call that they tell; none where there are no hits. */
  readonly report?: AccessPath;
  /** How those of tier 3 do, where they cannot tell as much. */
  readonly tracedReport?: AccessPath;
  readonly call?: string;
  /** What makes the call; default: the attacker. The `holder` is a child of it, `bypass` by another name. */
  readonly caller?: 'holder' | 'worker';
  /** Where hooks can deny, tiers 1 and 2; default: denied. */
  readonly hooked?: Fate;
  /** Where calls can only be seen, tier 3, with `reactiveKill`; default: killed. */
  readonly traced?: Fate;
  /** On tier 3 looked for only where readers are killed. */
  readonly onlyKilling?: true;
  /** Where a cgroup alone covers the victim, on all tiers; default: as above. */
  readonly byCgroup?: Fate;
  /** There is nothing like it without a cgroup that covers. */
  readonly onlyCgroup?: true;
  /** Made of several calls, each of which is reported. */
  readonly each?: true;
  /** Ended in place of the attacker: it would let itself be read. */
  readonly victimEnds?: true;
  /** Why it is not denied or killed, or where it is dealt with. */
  readonly note?: string;
}

const openat = { call: 'openat' } as const;
const environ = { report: 'environ', ...openat } as const;
const memory = { report: 'memory', ...openat } as const;
const opened = { report: 'open_descriptor' } as const;
const ptrace = { report: 'ptrace', call: 'ptrace' } as const;
const kernel = { report: 'kernel_memory', ...openat } as const;

/** Code in the place of a file of the container. */
const files = { hooked: 'open', traced: 'open' } as const;

/** What the agent claims, and what the suites beside this file measure on each tier. */
export const accessPathRows: readonly AccessPathRow[] = [
  { path: 'environ', title: '/proc/P/environ by its path', ...environ },
  { path: 'environ-o-path', title: 'O_PATH of environ, reopened through /proc/self/fd', ...environ },
  {
    path: 'environ-openat2',
    title: 'openat2 below a descriptor of /proc/P, with RESOLVE flags',
    report: 'environ',
    call: 'openat2',
  },
  {
    path: 'environ-io-uring',
    title: 'OPENAT and READ of an io_uring',
    report: 'environ',
    call: 'io_uring_enter',
    caller: 'worker',
    tracedReport: 'memory',
    onlyKilling: true,
    note: 'The kernel opens for the reader, without a system call that tier 3 could see. With `reactiveKill` the reader is seen as the kernel is about to copy the memory; what it reads from is not told then, so whatever else it reads of the process by an io_uring, `cmdline` for one, is its end, too.',
  },
  { path: 'environ-task-pid', title: '/proc/P/task/P/environ', ...environ },
  { path: 'environ-task-tid2', title: '/proc/P/task/TID2/environ of another thread', ...environ },
  { path: 'environ-top-tid2', title: '/proc/TID2/environ, which no listing shows', ...environ },
  { path: 'environ-second-mount', title: "another procfs in a mount namespace of one's own", ...environ },
  { path: 'environ-bind-mount', title: '/proc/P/environ bind-mounted onto a file', ...environ },
  { path: 'mem', title: 'pread of /proc/P/mem', ...memory },
  { path: 'mem-tid2', title: 'pread of /proc/TID2/mem', ...memory },
  { path: 'mem-task-tid2', title: 'pread of /proc/P/task/TID2/mem', ...memory },
  {
    path: 'process-vm-readv',
    title: 'process_vm_readv by PID',
    report: 'process_vm',
    call: 'process_vm_readv',
  },
  {
    path: 'process-vm-readv-tid2',
    title: 'process_vm_readv by TID2',
    report: 'process_vm',
    call: 'process_vm_readv',
  },
  { path: 'ptrace-attach', title: 'PTRACE_ATTACH by PID, PEEKDATA', ...ptrace },
  { path: 'ptrace-attach-tid2', title: 'PTRACE_ATTACH by TID2, PEEKDATA', ...ptrace },
  { path: 'ptrace-seize', title: 'PTRACE_SEIZE, INTERRUPT, PEEKDATA', ...ptrace },
  {
    path: 'tracer-before',
    title: 'traced before, PEEKDATA and process_vm_readv after',
    ...ptrace,
    hooked: 'refused',
    traced: 'refused',
    byCgroup: 'open',
    note: 'A traced process is not registered, so that it gets no secret. A cgroup alone cannot refuse anybody: a debugger that was attached before stays.',
  },
  {
    path: 'traceme',
    title: "the victim's parent, which the victim lets trace it",
    report: 'traceme',
    call: 'ptrace',
    victimEnds: true,
    note: 'On tier 3 it is the victim that is killed, before its parent can read.',
  },
  {
    path: 'pidfd-getfd',
    title: 'a descriptor of the victim taken by pidfd_getfd',
    report: 'pidfd_getfd',
    call: 'pidfd_getfd',
  },
  {
    path: 'fd-reopen',
    title: 'a memory file reopened through /proc/P/fd',
    ...memory,
    traced: 'open',
    note: 'The open file does not say by whose link it was reached, and tier 3 sees no link.',
  },
  {
    path: 'map-files',
    title: 'a mapped memory file through /proc/P/map_files',
    ...memory,
    each: true,
    traced: 'open',
    note: 'As above. On tiers 1 and 2 all of map_files is denied, because a link does not say what is mapped.',
  },
  { path: 'opened-environ-read', title: 'environ opened before, read after', ...opened, call: 'read' },
  { path: 'opened-environ-preadv', title: 'environ opened before, preadv after', ...opened, call: 'preadv' },
  { path: 'opened-mem', title: 'mem opened before, read after', ...opened, call: 'pread64' },
  {
    path: 'scm-rights',
    title: 'environ opened before, handed over by SCM_RIGHTS',
    ...opened,
    call: 'read',
    caller: 'holder',
  },
  {
    path: 'fork-inherit',
    title: 'environ opened before by a parent, read by its child',
    ...opened,
    call: 'read',
    caller: 'holder',
  },
  {
    path: 'opened-environ-splice',
    title: 'environ opened before, spliced into a pipe after',
    ...opened,
    call: 'splice',
  },
  {
    path: 'opened-environ-sendfile',
    title: 'environ opened before, sent by sendfile after',
    ...opened,
    call: 'sendfile',
  },
  {
    path: 'opened-environ-copy-file-range',
    title: 'environ opened before, copied by copy_file_range after',
    ...opened,
    call: 'copy_file_range',
  },
  { path: 'child-environ', title: 'environ of the child that inherited it', ...environ },
  { path: 'child-memory', title: '/proc/C/mem of the child', ...memory },
  { path: 'forked-environ', title: 'environ of a child by fork alone', ...environ },
  { path: 'forked-memory', title: '/proc/C/mem of a child by fork alone', ...memory },
  { path: 'leader-gone-environ', title: 'environ of a thread whose leader has ended', ...environ },
  { path: 'leader-gone-mem', title: 'mem of a thread whose leader has ended', ...memory },
  {
    path: 'moved-environ',
    title: 'environ of a process that root has moved out of the cgroup that covers it',
    ...environ,
    onlyCgroup: true,
  },
  {
    path: 'perf-stack-user',
    title: 'perf_event_open with the user stack of TID2',
    report: 'perf_stack',
    call: 'perf_event_open',
  },
  {
    path: 'core-limit',
    title: 'RLIMIT_CORE raised by prlimit from outside, then a dump',
    report: 'core_limit',
    call: 'prlimit64',
  },
  {
    path: 'core-limit-lowered',
    title: 'RLIMIT_CORE lowered to 0 by prlimit from outside, then a dump to a pipe',
    report: 'core_limit',
    call: 'prlimit64',
  },
  { path: 'kcore', title: "the victim's page in /proc/kcore, found by pagemap", ...kernel },
  { path: 'dev-mem', title: '/dev/mem, physical memory', ...kernel },
  { path: 'dev-kmem', title: "/dev/kmem, the kernel's memory", ...kernel },
  {
    path: 'exec-binfmt',
    title: 'a binfmt_misc interpreter (flag F) for a program that the victim then starts',
    report: 'interpreter',
    ...openat,
    each: true,
    note: 'To open `register` is the attempt. Tier 3 does not see it through an io_uring, and a thread that writes to the descriptor before the open has returned has registered the interpreter when it is killed. What was registered before anything was protected stays.',
  },
  {
    path: 'exec-proc-root',
    title: 'a program of the container replaced through /proc/P/root, then started by the victim',
    ...files,
    note: "A container's files are files of the node, which root reaches in too many ways to guard: [below](#code-that-root-brings-in).",
  },
  {
    path: 'exec-node-disk',
    title: 'the same, overwritten in the folder of its image layer on the node',
    ...files,
    note: 'As above.',
  },
  {
    path: 'exec-moved-mount',
    title: 'the same, covered by a mount that is moved into the container (setns)',
    ...files,
    note: 'As above. `kubectl exec` enters these mounts, too.',
  },
];

/** Not an attempt on anything: a stranger that was given the PID of a covered process is read as before. */
export const reusedPid = 'reused-pid';

/** Attack paths that the wrapper closes by the limits that it sets, whatever the tier. */
export const wrapperRows: readonly { readonly path: string; readonly title: string; readonly how: string }[] =
  [
    {
      path: 'core-pipe',
      title: 'core dump through a pipe of core_pattern',
      how: 'a soft limit of 1 on core dumps',
    },
    {
      path: 'cmdline-setproctitle',
      title: 'first environment string in /proc/P/cmdline after setproctitle',
      how: 'a first environment string that says nothing',
    },
  ];

export type Where = 'the virtual machine' | 'this machine' | 'arm64';

/** Attack paths that a machine does not have even where nothing protects, each for a reason. */
export const lacking: readonly {
  readonly path: string;
  readonly on: Where | 'both';
  readonly because: string;
}[] = [
  { path: 'dev-kmem', on: 'both', because: 'removed in Linux 5.13' },
  {
    path: 'opened-environ-splice',
    on: 'both',
    because: 'files of procfs cannot be spliced since Linux 5.10',
  },
  {
    path: 'opened-environ-sendfile',
    on: 'both',
    because: 'files of procfs cannot be spliced since Linux 5.10',
  },
  { path: 'opened-environ-copy-file-range', on: 'both', because: 'not between file systems of two kinds' },
  { path: 'kcore', on: 'this machine', because: 'built without CONFIG_PROC_KCORE' },
  { path: 'dev-mem', on: 'this machine', because: 'built without CONFIG_DEVMEM' },
  { path: 'dev-mem', on: 'arm64', because: 'gives out no memory that is in use' },
];
