import { closeSync, fstatSync, ftruncateSync } from 'node:fs';
import { exitStatus, SvcError } from '../errors.ts';
import { callInt, memoryAt, NativeError, tryInt, tryLong } from './libc.ts';
import {
  isSecretMemory,
  mapFlags,
  mapMemory,
  protection,
  type Region,
  regionOver,
  roundToPage,
  withScratch,
  withString,
} from './memory.ts';

const memfdSecret = 447n;
const closeOnExec = 0o2000000n;

/** The C library's `syscall(2)`. */
export type SystemCall = (number: bigint, ...args: bigint[]) => bigint;

export const systemCall: SystemCall = (number, ...args) => tryLong('syscall', number, ...args);

/**
 * Memory that the kernel removes from its own map; its size is fixed.
 * @throws NativeError, such as ENOSYS without memfd_secret, or EAGAIN above the memory-lock limit
 */
export function memfdSecretRegion(length: number, call: SystemCall): Region {
  const descriptor = Number(call(memfdSecret, closeOnExec));
  try {
    ftruncateSync(descriptor, roundToPage(length));
    const mapping = mapMemory(length, protection.readWrite, mapFlags.shared, descriptor);
    return regionOver(mapping, { kind: 'memfd_secret', locked: true, descriptor });
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

export interface SecretMemory {
  /**
   * @param length bytes; each region takes whole pages of the memory-lock limit
   * @throws SvcError MEMFD_SECRET_UNAVAILABLE or MEMORY_LOCK_REFUSED (exit 71) if required and not available
   */
  allocate(length: number): Region;
}

export interface ShareableMemory extends SecretMemory {
  /**
   * A region with a descriptor that another process can map; without memfd_secret it is ordinary memory, which that
   * process has to lock.
   * @throws as `allocate`
   */
  share(length: number): Region;
}

export interface SecretMemoryOptions {
  requireMemfdSecret: boolean;
  requireLock: boolean;
  call?: SystemCall;
}

/** memfd_secret if the kernel has it, otherwise locked anonymous memory, as `kind` and `locked` tell. */
export function createSecretMemory(options: SecretMemoryOptions): ShareableMemory {
  const { requireMemfdSecret, requireLock, call = systemCall } = options;
  return {
    allocate(length) {
      try {
        return memfdSecretRegion(length, call);
      } catch (error) {
        if (requireMemfdSecret) throw refusal(error, length, noMemfdSecret);
      }
      try {
        return anonymousRegion(length, requireLock);
      } catch (error) {
        throw refusal(error, length, noLock);
      }
    },
    share(length) {
      try {
        return memfdSecretRegion(length, call);
      } catch (error) {
        if (requireMemfdSecret) throw refusal(error, length, noMemfdSecret);
      }
      try {
        return memfdRegion(length);
      } catch (error) {
        throw refusal(error, length, noLock);
      }
    },
  };
}

function refusal(error: unknown, length: number, other: (cause: NativeError) => SvcError): unknown {
  if ((error as NodeJS.ErrnoException).code === 'EFBIG') return fileTooLarge(error, length);
  if (!(error instanceof NativeError)) return error;
  const overLimit = error.call === 'mmap' && error.errnoName === 'EAGAIN';
  return overLimit || error.call === 'mlock' ? lockRefused(error, length) : other(error);
}

/** Shared memory is a file without a name. */
function fileTooLarge(cause: unknown, length: number): SvcError {
  const message = `No shared memory for secrets: the limit of file sizes is below ${length} bytes`;
  return new SvcError('SECRET_MEMORY_UNAVAILABLE', message, {
    nextStep: 'Raise that limit (ulimit -f, LimitFSIZE of systemd).',
    exitStatus: exitStatus.system,
    cause,
  });
}

function noMemfdSecret(cause: NativeError): SvcError {
  return new SvcError('MEMFD_SECRET_UNAVAILABLE', `No memfd_secret memory: ${cause.message}`, {
    nextStep:
      'Use a kernel with memfd_secret (Linux 5.14; before 6.5 with secretmem.enable=1 at boot) and a seccomp profile that permits it, or set SVC_REQUIRE_MEMFD_SECRET=false.',
    exitStatus: exitStatus.system,
    cause,
  });
}

function lockRefused(cause: NativeError, length: number): SvcError {
  return new SvcError(
    'MEMORY_LOCK_REFUSED',
    `Cannot lock ${length} bytes of secret memory: ${cause.message}`,
    {
      nextStep:
        'Grant the IPC_LOCK capability (the operator adds it), or raise the memory-lock limit (LimitMEMLOCK=infinity under systemd).',
      exitStatus: exitStatus.system,
      cause,
    },
  );
}

function noLock(cause: NativeError): SvcError {
  return new SvcError('SECRET_MEMORY_UNAVAILABLE', `No memory for secrets: ${cause.message}`, {
    nextStep: 'Check the memory limits of the container.',
    exitStatus: exitStatus.system,
    cause,
  });
}

const dontDump = 16;

/**
 * Private memory that is excluded from core dumps, and locked if permitted.
 * @throws NativeError if it cannot be mapped, or cannot be locked despite `requireLock`
 */
function anonymousRegion(length: number, requireLock: boolean): Region {
  const mapping = mapMemory(length, protection.readWrite, mapFlags.privateAnonymous);
  const size = BigInt(roundToPage(length));
  try {
    const locked = lock(mapping.address, size, requireLock);
    callInt('madvise', mapping.address, size, dontDump);
    return regionOver(mapping, { kind: 'anonymous', locked, descriptor: undefined });
  } catch (error) {
    mapping.unmap();
    throw error;
  }
}

/** Ordinary memory in an unlinked file of fixed size. @throws NativeError */
export function memfdRegion(length: number): Region {
  const descriptor = withString('svc', (name) => tryInt('memfd_create', name, memfdFlags));
  try {
    ftruncateSync(descriptor, roundToPage(length));
    tryInt('fcntl', descriptor, addSeals, sealSize);
    return sharedRegion(descriptor, length);
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

const memfdFlags = 1 | 2;
const addSeals = 1033;
const sealSize = 2 | 4;

/** Maps memory that another process has prepared; the region owns the descriptor from now on. @throws NativeError */
export function sharedRegion(descriptor: number, length = fstatSync(descriptor).size): Region {
  const mapping = mapMemory(length, protection.readWrite, mapFlags.shared, descriptor);
  const kind = isSecretMemory(descriptor) ? 'memfd_secret' : 'anonymous';
  return regionOver(mapping, { kind, locked: kind === 'memfd_secret', descriptor });
}

function lock(address: bigint, size: bigint, required: boolean): boolean {
  try {
    tryInt('mlock', address, size);
    return true;
  } catch (error) {
    if (required || !(error instanceof NativeError)) throw error;
    return false;
  }
}

const star = 0x2a;

/**
 * Moves a variable's value from the process's environment into secret memory, without creating a JavaScript string. The
 * variable is removed, and its bytes (which /proc/PID/environ shows) are overwritten with `*`. Call it before anything
 * lists `process.env`, which copies every value.
 * @returns undefined if the variable is not set
 * @throws SvcError as `allocate`; the variable then stays unchanged
 */
export function takeVariable(name: string, memory: SecretMemory): Region | undefined {
  const value = find(name);
  if (value === undefined) return undefined;
  const region = memory.allocate(value.length);
  value.bytes.copy(region.bytes);
  wipeVariable(name);
  return region;
}

/** Removes a variable and overwrites its bytes, even if it occurs several times. */
export function wipeVariable(name: string): void {
  for (let found = find(name); found !== undefined; found = find(name)) {
    const entry = BigInt(Buffer.byteLength(name) + 1);
    memoryAt(found.address - entry, Number(entry) + found.length).fill(star);
  }
}

interface Value {
  address: bigint;
  length: number;
  bytes: Buffer;
}

function find(name: string): Value | undefined {
  const address = lookUp(name);
  if (address === 0n) return undefined;
  const length = Number(tryLong('strlen', address));
  return { address, length, bytes: memoryAt(address, length) };
}

function lookUp(name: string): bigint {
  return withScratch(Buffer.byteLength(name) + 1, ({ address, bytes }) => {
    bytes.write(name);
    return tryLong('getenv', address);
  });
}
