/** The ways to a process's environment or memory, in the order of `enum svc_road` in bpf/svc.h. */
export const roads = [
  'none',
  'environ',
  'memory',
  'process_vm',
  'ptrace',
  'traceme',
  'pidfd_getfd',
  'perf_stack',
  'kernel_memory',
  'open_descriptor',
  'core_limit',
] as const;

export type Road = (typeof roads)[number];

/** What was done about a hit, in the order of `enum svc_outcome`. */
export const outcomes = ['seen', 'denied', 'killed'] as const;

export type Outcome = (typeof outcomes)[number];
