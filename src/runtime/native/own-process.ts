import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { SvcError } from '../errors.ts';
import { callInt, NativeError, tryInt, tryLong } from './libc.ts';
import { copyAt, pageSize, type Scratch, withScratch, withString } from './memory.ts';

const getDumpableOption = 3;
const setDumpableOption = 4;
const setChildSubreaperOption = 36;
const stackSize = 3;
const coreLimit = 4;
const lockLimit = 8;
/** RLIMIT_LOCKS, without effect since Linux 2.4.25. */
const fileLockLimit = 10;
const capabilityBits = {
  ...{ chown: 0n, dac_override: 1n, fowner: 3n, fsetid: 4n, kill: 5n, setgid: 6n, setuid: 7n, setpcap: 8n },
  ...{ net_bind_service: 10n, net_broadcast: 11n, net_admin: 12n, net_raw: 13n },
  ...{ ipc_lock: 14n, ipc_owner: 15n, sys_chroot: 18n, sys_ptrace: 19n, sys_nice: 23n, sys_resource: 24n },
  ...{ mknod: 27n, lease: 28n, audit_write: 29n, setfcap: 31n },
} as const;

export type Capability = keyof typeof capabilityBits;

/**
 * Allows or forbids other processes of the same user to trace this one and read its /proc files. @throws NativeError
 */
export function setDumpable(dumpable: boolean): void {
  tryInt('prctl', setDumpableOption, dumpable ? 1n : 0n, 0n, 0n, 0n);
}

/** Whether other processes of the same user may trace this one and read its /proc files. @throws NativeError */
export function isDumpable(): boolean {
  return tryInt('prctl', getDumpableOption, 0n, 0n, 0n, 0n) === 1;
}

/**
 * The environment strings of this process from the C library, since /proc/self/environ belongs to root while the
 * process is not dumpable.
 * @throws NativeError
 */
export function environmentStrings(): readonly Buffer[] {
  const variable = withString('environ', (name) => tryLong('dlsym', 0n, name));
  if (variable === 0n) throw new NativeError('dlsym', constants.errno.ENOENT);
  const strings: Buffer[] = [];
  let at = pointerAt(variable);
  for (let string = pointerAt(at); string !== 0n; string = pointerAt(at)) {
    strings.push(copyAt(string, Number(tryLong('strlen', string))));
    at += BigInt(pointerSize);
  }
  return strings;
}

const pointerSize = 8;
const pointerAt = (address: bigint) => copyAt(address, pointerSize).readBigUInt64LE();

/** Makes orphaned descendants children of this process, as process 1 does. @throws NativeError */
export function setSubreaper(): void {
  tryInt('prctl', setChildSubreaperOption, 1n, 0n, 0n, 0n);
}

/**
 * Sets the soft limit on core files for this process and its children; 1 also prevents dumps to a program. The hard
 * limit stays, and bounds the soft one.
 * @param bytes Infinity for no limit
 * @returns the limits now in force
 * @throws NativeError
 */
export function setCoreLimit(bytes: number): ResourceLimit {
  return writeSoftLimit(coreLimit, bytes);
}

const arenaMaximum = -8;

/**
 * Makes glibc serve all threads from one arena. By default each thread gets its own, which keeps the thread's peak
 * usage: 6 to 8 MiB for V8's helpers. No effect with other C libraries.
 */
export function shareAllocator(): void {
  try {
    callInt('mallopt', arenaMaximum, 1);
  } catch {
    // musl has neither mallopt nor arenas for threads
  }
}

/**
 * Makes glibc return unused memory to the system: freed blocks between others, and what compiler threads left in arenas
 * from before `shareAllocator`. Takes some milliseconds. No effect with other C libraries.
 */
export function returnFreeMemory(): void {
  try {
    callInt('malloc_trim', 0n);
  } catch {
    // musl has no malloc_trim, and returns memory by itself
  }
}

/** `SVC_QUERY_LIMIT` of bpf/svc.h. */
const coverQuery = 0x73_76_63;

/**
 * Whether the node agent's programs protect this process, by their own answer (bpf/query.h). Needs neither agent nor
 * socket; without the programs it sets a limit that has no effect.
 * @throws NativeError if a system call filter forbids setting the limit
 */
export function isCovered(): boolean {
  const { soft } = readLimit(fileLockLimit);
  try {
    writeSoftLimit(fileLockLimit, coverQuery);
  } catch (error) {
    if (error instanceof NativeError && error.errno === constants.errno.EALREADY) return true;
    throw error;
  }
  writeSoftLimit(fileLockLimit, soft);
  return false;
}

/** The limit on locked memory, in bytes. @throws NativeError */
export function memlockLimit(): ResourceLimit {
  return readLimit(lockLimit);
}

/**
 * Limit on the stack in bytes, from which the kernel derives the room for arguments and environment. @throws
 * NativeError
 */
function stackLimit(): ResourceLimit {
  return readLimit(stackSize);
}

/**
 * Whether the capability is effective. A capability from a user namespace counts here, but not in the kernel's check.
 */
export function hasCapability(capability: Capability): boolean {
  return (capabilitySet('CapEff') & maskOf([capability])) !== 0n;
}

/** Whether any of these capabilities is permitted, so that this process or its children may raise it. */
export function hasAnyCapability(capabilities: readonly Capability[]): boolean {
  return (capabilitySet('CapPrm') & maskOf(capabilities)) !== 0n;
}

/**
 * Whether this process has any capability besides these, or could gain one by starting a program as root or with file
 * capabilities.
 */
export function hasOtherCapabilities(besides: readonly Capability[]): boolean {
  const becomesRoot = process.geteuid?.() === 0 || hasAnyCapability(['setuid', 'setfcap']);
  const held = capabilitySet('CapPrm') | (becomesRoot ? capabilitySet('CapBnd') : 0n);
  return (held & ~maskOf(besides)) !== 0n;
}

const capabilitySet = (name: 'CapBnd' | 'CapEff' | 'CapPrm'): bigint => BigInt(`0x${status(name)}`);

const maskOf = (capabilities: readonly Capability[]): bigint =>
  capabilities.reduce((bits, name) => bits | (1n << capabilityBits[name]), 0n);

/** Whether a seccomp filter is active. */
export const isFiltered = (): boolean => status('Seccomp') !== '0';

/** Locked bytes of address space, as the memory-lock limit counts them. */
export function lockedAddressSpace(): number {
  return Number.parseInt(status('VmLck'), 10) * 1024;
}

function status(field: string): string {
  const text = readFileSync('/proc/self/status', 'latin1');
  return new RegExp(`^${field}:\\s*(\\S+)`, 'm').exec(text)?.[1] ?? '0';
}

/** Bytes; Infinity if unlimited. */
interface ResourceLimit {
  soft: number;
  hard: number;
}

const unlimited = 0xffff_ffff_ffff_ffffn;
const structSize = 16;

/**
 * @param resource number of RLIMIT_…
 * @throws NativeError
 */
function readLimit(resource: number): ResourceLimit {
  return withScratch(structSize, (struct) => load(struct, resource));
}

/**
 * Keeps the hard limit, and uses it as the soft limit if the requested one is larger.
 * @returns the limits now in force
 * @throws NativeError
 */
function writeSoftLimit(resource: number, bytes: number): ResourceLimit {
  return withScratch(structSize, (struct) => {
    load(struct, resource);
    const hard = struct.bytes.readBigUInt64LE(8);
    const wanted = Number.isFinite(bytes) ? BigInt(bytes) : unlimited;
    struct.bytes.writeBigUInt64LE(wanted < hard ? wanted : hard, 0);
    tryInt('setrlimit', resource, struct.address);
    return load(struct, resource);
  });
}

function load(struct: Scratch, resource: number): ResourceLimit {
  tryInt('getrlimit', resource, struct.address);
  return { soft: toBytes(struct.bytes.readBigUInt64LE(0)), hard: toBytes(struct.bytes.readBigUInt64LE(8)) };
}

function toBytes(value: bigint): number {
  return value === unlimited ? Number.POSITIVE_INFINITY : Number(value);
}

/** The kernel's limits on arguments and environment together, in bytes. */
export interface ArgumentRoom {
  /** For one string, including its NUL. */
  readonly string: number;
  /** For all strings including their NULs, plus 8 bytes for each. */
  readonly total: number;
}

const stringPages = 32;
const minBytes = 128 * 1024;
const maxBytes = 6 * 1024 * 1024;
/** For what the kernel adds, such as the file name and 16 random bytes. */
const reserve = 4096 + 1024;

/** According to execve(2), where the stack limit that a program inherits counts. */
export function argumentRoom(stack: number = stackLimit().soft): ArgumentRoom {
  const total = Math.max(minBytes, Math.min(maxBytes, Math.floor(stack / 4))) - reserve;
  return { string: stringPages * pageSize(), total };
}

/**
 * Exits immediately. Node's own exit would first restore the terminal settings from its start, undoing what a child
 * program set on purpose (`stty`). Buffered output is lost.
 */
export function exitAtOnce(status: number): never {
  try {
    callInt('_exit', status);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
  }
  return process.exit(status); // no native calls here
}
