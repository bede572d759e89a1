import { addon, type External } from './addon.ts';
import { NativeError } from './native-error.ts';

/** A number goes as a C int, a bigint as a 64-bit integer or pointer. */
export type Argument = number | bigint;

const int = 1;
const pointer = 11;
const long = 16;

/** Calls a C function that returns an int; what it returns is passed on, -1 included. */
export function callInt(name: string, ...args: readonly Argument[]): number {
  return invoke(name, int, args, false) as number;
}

/**
 * Calls a C function that returns -1 on failure.
 * @throws NativeError with the errno
 */
export function tryInt(name: string, ...args: readonly Argument[]): number {
  const { value, errnoCode } = invoke(name, int, args, true) as { value: number; errnoCode: number };
  if (value === -1) throw new NativeError(name, errnoCode);
  return value;
}

/**
 * The same for a function that returns a 64-bit integer, such as `syscall`, `mmap` or `getenv`.
 * @throws NativeError with the errno
 */
export function tryLong(name: string, ...args: readonly Argument[]): bigint {
  const { value, errnoCode } = invoke(name, long, args, true) as { value: bigint; errnoCode: number };
  if (value === -1n) throw new NativeError(name, errnoCode);
  return value;
}

/**
 * The memory at an address, in place. The caller keeps it mapped for as long as the buffer is used:
 * touching it later ends the process.
 */
export function memoryAt(address: bigint, length: number): Buffer {
  const external = invoke('memmove', pointer, [address, address, 0n], false) as External;
  return addon().createExternalBuffer(external, length);
}

/** @param retType ffi-rs's number of the type, and `library` the name by which it was opened */
export function invoke(
  name: string,
  retType: number,
  args: readonly Argument[],
  errno: boolean,
  library = 'c',
): unknown {
  return addon().load({
    library,
    funcName: name,
    retType,
    paramsType: args.map((argument) => (typeof argument === 'bigint' ? long : int)),
    paramsValue: args,
    freeResultMemory: false,
    errno,
  });
}
