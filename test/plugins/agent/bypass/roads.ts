import type { AccessPath } from '../../../../src/core/protection/bpf-layouts.ts';

/** What becomes of an attempt: `open` means that it succeeds and nobody is told. */
export type Fate = 'denied' | 'killed' | 'refused' | 'open';

/** One road of the program test/tools/bypass, or one thing that happens to a process before somebody takes the first. */
export interface RoadRow {
  readonly road: string;
  readonly title: string;
  /** How hits name it, and the system call that they tell. */
  readonly report: AccessPath;
  /** How those of tier 3 do, where they cannot tell as much. */
  readonly tracedReport?: AccessPath;
  readonly call: string;
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

/** What the agent claims, and what the suites beside this file measure on each tier. */
export const roadRows: readonly RoadRow[] = [
  { road: 'environ', title: '/proc/P/environ by its path', ...environ },
  { road: 'environ-o-path', title: 'O_PATH of environ, reopened through /proc/self/fd', ...environ },
  {
    road: 'environ-openat2',
    title: 'openat2 below a descriptor of /proc/P, with RESOLVE flags',
    report: 'environ',
    call: 'openat2',
  },
  {
    road: 'environ-io-uring',
    title: 'OPENAT and READ of an io_uring',
    report: 'environ',
    call: 'io_uring_enter',
    caller: 'worker',
    tracedReport: 'memory',
    onlyKilling: true,
    note: 'The kernel opens for the reader, without a system call that tier 3 could see. With `reactiveKill` the reader is seen as the kernel is about to copy the memory; what it reads from is not told then, so whatever else it reads of the process by an io_uring, `cmdline` for one, is its end, too.',
  },
  { road: 'environ-task-pid', title: '/proc/P/task/P/environ', ...environ },
  { road: 'environ-task-tid2', title: '/proc/P/task/TID2/environ of another thread', ...environ },
  { road: 'environ-top-tid2', title: '/proc/TID2/environ, which no listing shows', ...environ },
  { road: 'environ-second-mount', title: "another procfs in a mount namespace of one's own", ...environ },
  { road: 'environ-bind-mount', title: '/proc/P/environ bind-mounted onto a file', ...environ },
  { road: 'mem', title: 'pread of /proc/P/mem', ...memory },
  { road: 'mem-tid2', title: 'pread of /proc/TID2/mem', ...memory },
  { road: 'mem-task-tid2', title: 'pread of /proc/P/task/TID2/mem', ...memory },
  {
    road: 'process-vm-readv',
    title: 'process_vm_readv by PID',
    report: 'process_vm',
    call: 'process_vm_readv',
  },
  {
    road: 'process-vm-readv-tid2',
    title: 'process_vm_readv by TID2',
    report: 'process_vm',
    call: 'process_vm_readv',
  },
  { road: 'ptrace-attach', title: 'PTRACE_ATTACH by PID, PEEKDATA', ...ptrace },
  { road: 'ptrace-attach-tid2', title: 'PTRACE_ATTACH by TID2, PEEKDATA', ...ptrace },
  { road: 'ptrace-seize', title: 'PTRACE_SEIZE, INTERRUPT, PEEKDATA', ...ptrace },
  {
    road: 'tracer-before',
    title: 'traced before, PEEKDATA and process_vm_readv after',
    ...ptrace,
    hooked: 'refused',
    traced: 'refused',
    byCgroup: 'open',
    note: 'A traced process is not registered, so that it gets no secret. A cgroup alone cannot refuse anybody: a debugger that was attached before stays.',
  },
  {
    road: 'traceme',
    title: "the victim's parent, which the victim lets trace it",
    report: 'traceme',
    call: 'ptrace',
    victimEnds: true,
    note: 'On tier 3 it is the victim that is killed, before its parent can read.',
  },
  {
    road: 'pidfd-getfd',
    title: 'a descriptor of the victim taken by pidfd_getfd',
    report: 'pidfd_getfd',
    call: 'pidfd_getfd',
  },
  {
    road: 'fd-reopen',
    title: 'a memory file reopened through /proc/P/fd',
    ...memory,
    traced: 'open',
    note: 'The open file does not say by whose link it was reached, and tier 3 sees no link.',
  },
  {
    road: 'map-files',
    title: 'a mapped memory file through /proc/P/map_files',
    ...memory,
    each: true,
    traced: 'open',
    note: 'As above. On tiers 1 and 2 all of map_files is denied, because a link does not say what is mapped.',
  },
  { road: 'opened-environ-read', title: 'environ opened before, read after', ...opened, call: 'read' },
  { road: 'opened-environ-preadv', title: 'environ opened before, preadv after', ...opened, call: 'preadv' },
  { road: 'opened-mem', title: 'mem opened before, read after', ...opened, call: 'pread64' },
  {
    road: 'scm-rights',
    title: 'environ opened before, handed over by SCM_RIGHTS',
    ...opened,
    call: 'read',
    caller: 'holder',
  },
  {
    road: 'fork-inherit',
    title: 'environ opened before by a parent, read by its child',
    ...opened,
    call: 'read',
    caller: 'holder',
  },
  {
    road: 'opened-environ-splice',
    title: 'environ opened before, spliced into a pipe after',
    ...opened,
    call: 'splice',
  },
  {
    road: 'opened-environ-sendfile',
    title: 'environ opened before, sent by sendfile after',
    ...opened,
    call: 'sendfile',
  },
  {
    road: 'opened-environ-copy-file-range',
    title: 'environ opened before, copied by copy_file_range after',
    ...opened,
    call: 'copy_file_range',
  },
  { road: 'child-environ', title: 'environ of the child that inherited it', ...environ },
  { road: 'child-memory', title: '/proc/C/mem of the child', ...memory },
  { road: 'forked-environ', title: 'environ of a child by fork alone', ...environ },
  { road: 'forked-memory', title: '/proc/C/mem of a child by fork alone', ...memory },
  { road: 'leader-gone-environ', title: 'environ of a thread whose leader has ended', ...environ },
  { road: 'leader-gone-mem', title: 'mem of a thread whose leader has ended', ...memory },
  {
    road: 'moved-environ',
    title: 'environ of a process that root has moved out of the cgroup that covers it',
    ...environ,
    onlyCgroup: true,
  },
  {
    road: 'perf-stack-user',
    title: 'perf_event_open with the user stack of TID2',
    report: 'perf_stack',
    call: 'perf_event_open',
  },
  {
    road: 'core-limit',
    title: 'RLIMIT_CORE raised by prlimit from outside, then a dump',
    report: 'core_limit',
    call: 'prlimit64',
  },
  { road: 'kcore', title: "the victim's page in /proc/kcore, found by pagemap", ...kernel },
  { road: 'dev-mem', title: '/dev/mem, physical memory', ...kernel },
  { road: 'dev-kmem', title: "/dev/kmem, the kernel's memory", ...kernel },
];

/** Not an attempt on anything: a stranger that was given the PID of a covered process is read as before. */
export const reusedPid = 'reused-pid';

/** Roads that the wrapper closes by the limits that it sets, whatever the tier. */
export const wrapperRows: readonly { readonly road: string; readonly title: string; readonly how: string }[] =
  [
    {
      road: 'core-pipe',
      title: 'core dump through a pipe of core_pattern',
      how: 'a soft limit of 1 on core dumps',
    },
    {
      road: 'cmdline-setproctitle',
      title: 'first environment string in /proc/P/cmdline after setproctitle',
      how: 'a first environment string that says nothing',
    },
  ];

export type Where = 'the virtual machine' | 'this machine' | 'arm64';

/** Roads that a machine does not have even where nothing protects, each for a reason. */
export const lacking: readonly {
  readonly road: string;
  readonly on: Where | 'both';
  readonly because: string;
}[] = [
  { road: 'dev-kmem', on: 'both', because: 'removed in Linux 5.13' },
  {
    road: 'opened-environ-splice',
    on: 'both',
    because: 'files of procfs cannot be spliced since Linux 5.10',
  },
  {
    road: 'opened-environ-sendfile',
    on: 'both',
    because: 'files of procfs cannot be spliced since Linux 5.10',
  },
  { road: 'opened-environ-copy-file-range', on: 'both', because: 'not between file systems of two kinds' },
  { road: 'kcore', on: 'this machine', because: 'built without CONFIG_PROC_KCORE' },
  { road: 'dev-mem', on: 'this machine', because: 'built without CONFIG_DEVMEM' },
  { road: 'dev-mem', on: 'arm64', because: 'gives out no memory that is in use' },
];
