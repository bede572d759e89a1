import { tryLong } from './libc.ts';
import { NativeError } from './native-error.ts';
import { withScratch } from './scratch.ts';

/**
 * Copies memory of this process by the kernel, so that an address that is mapped no more is an answer and no fault.
 * @returns bytes copied, fewer than asked for where the memory ends
 */
export function copyMemory(from: bigint, to: bigint, length: number): number {
  return transfer('process_vm_readv', to, from, length);
}

/** Writes memory of this process in the same way. @returns bytes written */
export function writeMemory(to: bigint, from: bigint, length: number): number {
  return transfer('process_vm_writev', from, to, length);
}

function transfer(call: string, local: bigint, remote: bigint, length: number): number {
  return withScratch(32, ({ address, bytes }) => {
    for (const [at, value] of [local, BigInt(length), remote, BigInt(length)].entries()) {
      bytes.writeBigUInt64LE(value, at * 8);
    }
    try {
      return Number(tryLong(call, process.pid, address, 1n, address + 16n, 1n, 0n));
    } catch (error) {
      if (error instanceof NativeError && error.errnoName === 'EFAULT') return 0;
      throw error;
    }
  });
}
