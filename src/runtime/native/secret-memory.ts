import { exitStatus, SvcError } from '../../core/errors.ts';
import { callInt, tryInt } from './libc.ts';
import { mapFlags, mapMemory, protection, roundToPage } from './mapping.ts';
import { memfdSecretRegion, type SystemCall, systemCall } from './memfd-secret.ts';
import { NativeError } from './native-error.ts';
import { type Region, regionOver } from './region.ts';

export interface SecretMemory {
  /**
   * @param length in bytes; each region takes whole pages of the memory-lock limit
   * @throws SvcError MEMFD_SECRET_UNAVAILABLE or MEMORY_LOCK_REFUSED (exit 71) where that was required
   */
  allocate(length: number): Region;
}

export interface SecretMemoryOptions {
  requireMemfdSecret: boolean;
  requireLock: boolean;
  call?: SystemCall;
}

/** memfd_secret where the kernel has it, locked anonymous memory otherwise; `kind` and `locked` say which. */
export function createSecretMemory(options: SecretMemoryOptions): SecretMemory {
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
  };
}

function refusal(error: unknown, length: number, other: (cause: NativeError) => SvcError): unknown {
  if (!(error instanceof NativeError)) return error;
  const overLimit = error.call === 'mmap' && error.errnoName === 'EAGAIN';
  return overLimit || error.call === 'mlock' ? lockRefused(error, length) : other(error);
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
 * Private memory that core dumps leave out, locked where the system permits it.
 * @throws NativeError when it cannot be mapped, or not be locked although `requireLock`
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

function lock(address: bigint, size: bigint, required: boolean): boolean {
  try {
    tryInt('mlock', address, size);
    return true;
  } catch (error) {
    if (required || !(error instanceof NativeError)) throw error;
    return false;
  }
}
