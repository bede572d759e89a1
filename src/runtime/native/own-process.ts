import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { SvcError } from '../../core/errors.ts';
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

/** Lets other processes of the same user trace this one and read its /proc files, or forbids it. @throws NativeError */
export function setDumpable(dumpable: boolean): void {
  tryInt('prctl', setDumpableOption, dumpable ? 1n : 0n, 0n, 0n, 0n);
}

/** Whether other processes of the same user may trace this one and read its /proc files. @throws NativeError */
export function isDumpable(): boolean {
  return tryInt('prctl', getDumpableOption, 0n, 0n, 0n, 0n) === 1;
}

/**
 * The strings of this process's environment as the C library has them, where /proc/self/environ cannot be read: it is
 * root's alone while the process is not dumpable. @throws NativeError
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

/** Makes orphaned descendants children of this process, as those of process 1 are. @throws NativeError */
export function setSubreaper(): void {
  tryInt('prctl', setChildSubreaperOption, 1n, 0n, 0n, 0n);
}

/**
 * Sets the soft limit on core files, for this process and its children; 1 also stops dumps that go to a program.
 * The hard limit stays, and the soft one cannot pass it.
 * @param bytes Infinity for none
 * @returns the limits now in force
 * @throws NativeError
 */
export function setCoreLimit(bytes: number): ResourceLimit {
  return writeSoftLimit(coreLimit, bytes);
}

const arenaMaximum = -8;

/**
 * Makes glibc serve all threads from one pool of memory. By itself it keeps one for each thread, which holds what its thread
 * took at most: 6 to 8 MiB for V8's helpers. Without effect on other C libraries.
 */
export function shareAllocator(): void {
  try {
    callInt('mallopt', arenaMaximum, 1);
  } catch {
    // musl has no mallopt, and no pools of threads either
  }
}

/**
 * Has glibc give back to the system what it keeps for later: freed blocks between others, and what compiler threads have
 * left in pools that they had before `shareAllocator`. Takes some milliseconds. Without effect on other C libraries.
 */
export function returnFreeMemory(): void {
  try {
    callInt('malloc_trim', 0n);
  } catch {
    // musl has no malloc_trim, and gives memory back by itself
  }
}

/** `SVC_QUERY_LIMIT` of bpf/svc.h. */
const coverQuery = 0x73_76_63;

/**
 * Whether the node agent's programs keep others out of this process, by their own answer: bpf/query.h. Needs neither
 * agent nor socket; without programs it changes a limit that has no effect.
 * @throws NativeError where the limit cannot be set, by a filter of system calls
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

/** The limit on the stack, by which the kernel measures arguments and environment, in bytes. @throws NativeError */
function stackLimit(): ResourceLimit {
  return readLimit(stackSize);
}

/** Whether the capability is effective. One that a user namespace gives counts here, but not in the kernel's check. */
export function hasCapability(capability: Capability): boolean {
  return (capabilitySet('CapEff') & maskOf([capability])) !== 0n;
}

/** Whether one of these is permitted, so that this process or its children may raise it. */
export function hasAnyCapability(capabilities: readonly Capability[]): boolean {
  return (capabilitySet('CapPrm') & maskOf(capabilities)) !== 0n;
}

/** Whether this process has, or gets by starting a program as root or with a file's capabilities, one besides these. */
export function hasOtherCapabilities(besides: readonly Capability[]): boolean {
  const becomesRoot = process.geteuid?.() === 0 || hasAnyCapability(['setuid', 'setfcap']);
  const held = capabilitySet('CapPrm') | (becomesRoot ? capabilitySet('CapBnd') : 0n);
  return (held & ~maskOf(besides)) !== 0n;
}

const capabilitySet = (name: 'CapBnd' | 'CapEff' | 'CapPrm'): bigint => BigInt(`0x${status(name)}`);

const maskOf = (capabilities: readonly Capability[]): bigint =>
  capabilities.reduce((bits, name) => bits | (1n << capabilityBits[name]), 0n);

/** Whether a seccomp filter is in force. */
export const isFiltered = (): boolean => status('Seccomp') !== '0';

/** Bytes of address space that are locked, as the memory-lock limit counts them. */
export function lockedAddressSpace(): number {
  return Number.parseInt(status('VmLck'), 10) * 1024;
}

function status(field: string): string {
  const text = readFileSync('/proc/self/status', 'latin1');
  return new RegExp(`^${field}:\\s*(\\S+)`, 'm').exec(text)?.[1] ?? '0';
}

/** Bytes; Infinity where there is no limit. */
interface ResourceLimit {
  soft: number;
  hard: number;
}

const unlimited = 0xffff_ffff_ffff_ffffn;
const structSize = 16;

/** @param resource its number, RLIMIT_… @throws NativeError */
function readLimit(resource: number): ResourceLimit {
  return withScratch(structSize, (struct) => load(struct, resource));
}

/**
 * Leaves the hard limit as it is and takes it for the soft one where that would pass it.
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

/** What the kernel admits of arguments and environment together, in bytes. */
export interface ArgumentRoom {
  /** One string, its NUL included. */
  readonly string: number;
  /** All strings with their NULs, and 8 bytes for each. */
  readonly total: number;
}

const stringPages = 32;
const least = 128 * 1024;
const most = 6 * 1024 * 1024;
/** For what the kernel adds: the file's name, 16 random bytes and the like. */
const reserve = 4096 + 1024;

/** As execve(2) says; the stack limit that a program inherits counts. */
export function argumentRoom(stack: number = stackLimit().soft): ArgumentRoom {
  const total = Math.max(least, Math.min(most, Math.floor(stack / 4))) - reserve;
  return { string: stringPages * pageSize(), total };
}

/**
 * Ends the process here and now. Node's own exit would first put back the settings that the terminal had at the start,
 * and so undo what a program below has set on purpose (`stty`). Nothing that is buffered gets written.
 */
export function exitAtOnce(status: number): never {
  try {
    callInt('_exit', status);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
  }
  return process.exit(status); // no native calls here
}
