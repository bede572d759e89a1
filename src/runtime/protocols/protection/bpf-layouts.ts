/**
 * Layouts of the structs in bpf/svc.h, little-endian. A test compares sizes and offsets with the BTF of the built
 * objects.
 */
export const layoutVersion = 1;

export const sizes = { process: 16, protection: 16, crowd: 16, settings: 40, hit: 88, answer: 40 } as const;

/** Requests to the program `manage`. */
export const requests = {
  inspect: 0,
  protect: 1,
  release: 2,
  preemption: 3,
  forget: 4,
  guardToken: 5,
  keepTokens: 6,
} as const;

/** Counters of the programs besides hits, in the order of `enum svc_tally`. */
export const tallies = [
  'hits_lost',
  'processes_lost',
  'openings_lost',
  'covered_late',
  'decoy_hits',
] as const;

/** Maximum entries of one cgroup in the process table. */
export const mostOfOneCgroup = 8_192;

/** Paths to all processes that are left unguarded, as bits. */
export const leftAlone = { kernelMemory: 1, perf: 2, interpreters: 4 } as const;

export const protectionFlags = { late: 1, decoy: 2 } as const;

const facts = { covered: 1, opened: 2 } as const;

/** A thread group: PID in the initial namespace, start in nanoseconds since boot. */
export interface ProcessKey {
  readonly pid: number;
  readonly start: bigint;
}

/** Entries of one cgroup in the process table. */
export interface Crowd {
  /** Id of the cgroup (v2). */
  readonly cgroup: bigint;
  readonly processes: number;
  /** Processes without an entry, covered by their cgroup. */
  readonly beyond: number;
}

export interface GuardSettings {
  readonly enforce: boolean;
  readonly kill: boolean;
  readonly generation: number;
  /** Bits of `leftAlone`. */
  readonly left: number;
  readonly agent: ProcessKey;
  readonly watchingSince: bigint;
}

export interface ManageReply {
  readonly process: ProcessKey;
  readonly cgroup: bigint;
  /** 0 or a negative errno. */
  readonly error: number;
  readonly covered: boolean;
  readonly opened: boolean;
  /** The kernel's preemption model, by the kernel's own number. */
  readonly preemption: number;
}

export function encodeProcess({ pid, start }: ProcessKey): Buffer {
  const bytes = Buffer.alloc(sizes.process);
  bytes.writeUInt32LE(pid);
  bytes.writeBigUInt64LE(start, 8);
  return bytes;
}

export function decodeProcess(bytes: Buffer): ProcessKey {
  return { pid: bytes.readUInt32LE(), start: bytes.readBigUInt64LE(8) };
}

/** `struct svc_protection`; the programs set the time. */
export function encodeProtection(flags: number): Buffer {
  const bytes = Buffer.alloc(sizes.protection);
  bytes.writeUInt32LE(flags);
  return bytes;
}

export const decodeProtectionFlags = (bytes: Buffer): number => bytes.readUInt32LE();

export function decodeCrowd(bytes: Buffer): Crowd {
  return {
    cgroup: bytes.readBigUInt64LE(),
    processes: bytes.readInt32LE(8),
    beyond: bytes.readUInt32LE(12),
  };
}

export function encodeSettings(settings: GuardSettings): Buffer {
  const bytes = Buffer.alloc(sizes.settings);
  bytes.writeUInt32LE(settings.enforce ? 1 : 0);
  bytes.writeUInt32LE(settings.kill ? 1 : 0, 4);
  bytes.writeUInt32LE(settings.generation, 8);
  bytes.writeUInt32LE(settings.left, 12);
  encodeProcess(settings.agent).copy(bytes, 16);
  bytes.writeBigUInt64LE(settings.watchingSince, 32);
  return bytes;
}

export function decodeSettings(bytes: Buffer): GuardSettings {
  return {
    enforce: bytes.readUInt32LE() !== 0,
    kill: bytes.readUInt32LE(4) !== 0,
    generation: bytes.readUInt32LE(8),
    left: bytes.readUInt32LE(12),
    agent: decodeProcess(bytes.subarray(16)),
    watchingSince: bytes.readBigUInt64LE(32),
  };
}

export function decodeManageReply(bytes: Buffer): ManageReply {
  const said = bytes.readUInt32LE(28);
  return {
    process: decodeProcess(bytes),
    cgroup: bytes.readBigUInt64LE(16),
    error: bytes.readInt32LE(24),
    covered: (said & facts.covered) !== 0,
    opened: (said & facts.opened) !== 0,
    preemption: bytes.readInt32LE(32),
  };
}

/**
 * Input of `manage`: three 64-bit arguments.
 * @param more flags; the start time of a process to forget; the descriptor of an object to guard
 */
export function encodeRequest(request: number, pid: number, more: number | bigint = 0): Buffer {
  const bytes = Buffer.alloc(24);
  for (const [index, value] of [request, pid, more].entries()) {
    bytes.writeBigUInt64LE(BigInt(value), index * 8);
  }
  return bytes;
}

/** @throws RangeError unless the record is a `struct svc_hit` */
export function decodeAccessEvent(bytes: Buffer): AccessEvent {
  const [road, outcome] = [accessPaths[bytes.readUInt16LE(52)], accessOutcomes[bytes[54] ?? 255]];
  if (road === undefined || outcome === undefined) throw new RangeError('An access event by an unknown path');
  return {
    time: bytes.readBigUInt64LE(),
    road,
    outcome,
    syscall: bytes.readUInt32LE(48),
    source: {
      pid: bytes.readUInt32LE(32),
      tid: bytes.readUInt32LE(36),
      uid: bytes.readUInt32LE(40),
      cgroup: bytes.readBigUInt64LE(16),
      comm: commAt(bytes, 56),
    },
    target: {
      pid: bytes.readUInt32LE(44),
      start: bytes.readBigUInt64LE(8),
      cgroup: bytes.readBigUInt64LE(24),
      comm: commAt(bytes, 72),
    },
  };
}

function commAt(bytes: Buffer, at: number): string {
  const field = bytes.subarray(at, at + 16);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? 16 : end);
}

/** One attempt on a protected process, from `struct svc_hit` of bpf/svc.h. PIDs are the host's. */
export interface AccessEvent {
  /** Nanoseconds since boot. */
  readonly time: bigint;
  readonly road: AccessPath;
  readonly outcome: AccessOutcome;
  /** Number of the system call on this machine's architecture. */
  readonly syscall: number;
  readonly source: {
    readonly pid: number;
    readonly tid: number;
    readonly uid: number;
    readonly comm: string;
    /** Id of the process's cgroup (v2). */
    readonly cgroup: bigint;
  };
  /** Pid 0 if the path leads to all processes of the machine. */
  readonly target: {
    readonly pid: number;
    /** Nanoseconds since boot. */
    readonly start: bigint;
    readonly comm: string;
    readonly cgroup: bigint;
  };
}

/** Access paths to a process's environment or memory, in the order of `enum svc_access_path` in bpf/svc.h. */
export const accessPaths = [
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
  'token',
  'interpreter',
] as const;

export type AccessPath = (typeof accessPaths)[number];

/** Reactions to a hit, in the order of `enum svc_outcome`. */
export const accessOutcomes = ['seen', 'denied', 'killed'] as const;

export type AccessOutcome = (typeof accessOutcomes)[number];
