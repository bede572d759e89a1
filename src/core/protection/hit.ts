import type { Outcome, Road } from './road.ts';

/** One attempt on a protected process, as `struct svc_hit` of bpf/svc.h tells it. PIDs are the host's. */
export interface Hit {
  /** Nanoseconds since boot. */
  readonly time: bigint;
  readonly road: Road;
  readonly outcome: Outcome;
  /** Number of the system call on this machine's architecture. */
  readonly syscall: number;
  readonly source: {
    readonly pid: number;
    readonly tid: number;
    readonly uid: number;
    readonly comm: string;
    /** Id of its cgroup (v2). */
    readonly cgroup: bigint;
  };
  /** Pid 0 where the road leads to all memory of the machine. */
  readonly target: {
    readonly pid: number;
    /** Nanoseconds since boot. */
    readonly start: bigint;
    readonly comm: string;
    readonly cgroup: bigint;
  };
}
