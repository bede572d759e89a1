import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getSystemErrorMap } from 'node:util';
import { exitStatus, SvcError } from '../errors.ts';

/** Numbers are passed as C ints, bigints as 64-bit integers or pointers. */
export type Argument = number | bigint;

const int = 1;
const pointer = 11;
const long = 16;

/** Calls a C function that returns an int, and returns it, including -1. */
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
 * Calls a C function that returns a 64-bit integer, such as `syscall`, `mmap` or `getenv`.
 * @throws NativeError with the errno
 */
export function tryLong(name: string, ...args: readonly Argument[]): bigint {
  const { value, errnoCode } = invoke(name, long, args, true) as { value: bigint; errnoCode: number };
  if (value === -1n) throw new NativeError(name, errnoCode);
  return value;
}

/**
 * The memory at an address, in place. The caller keeps it mapped while the buffer is used; touching it later ends the
 * process.
 */
export function memoryAt(address: bigint, length: number): Buffer {
  const external = invoke('memmove', pointer, [address, address, 0n], false) as External;
  return addon().createExternalBuffer(external, length);
}

/**
 * @param retType type number in ffi-rs
 * @param library name under which the library was opened
 */
function invoke(
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

/** An opaque pointer of ffi-rs. */
type External = object & { readonly __external?: never };

/** The part of ffi-rs's compiled module that is used here. */
export interface Addon {
  open(library: { library: string; path: string }): void;
  load(call: {
    library: string;
    funcName: string;
    retType: number;
    paramsType: readonly number[];
    paramsValue: readonly unknown[];
    freeResultMemory: boolean;
    errno: boolean;
  }): unknown;
  createExternalBuffer(pointer: External, length: number): Buffer;
}

let loaded: Addon | undefined;

/**
 * ffi-rs's compiled module, loaded on the first call. Its index.js is bypassed, because it takes 6 ms, the module 1 ms.
 * @throws SvcError NATIVE_UNSUPPORTED (exit 71) on a platform without a build
 */
function addon(): Addon {
  loaded ??= load();
  return loaded;
}

function load(): Addon {
  const module = { exports: {} as Addon };
  const failures: unknown[] = [];
  for (const path of candidates()) {
    try {
      process.dlopen(module, path);
      module.exports.open({ library: 'c', path: '' });
      return module.exports;
    } catch (error) {
      failures.push(error);
    }
  }
  throw new SvcError('NATIVE_UNSUPPORTED', `No native calls on ${process.platform} ${process.arch}`, {
    nextStep: 'Run on Linux (x64 or arm64), with the optional packages of ffi-rs installed.',
    exitStatus: exitStatus.system,
    cause: failures[0],
  });
}

/**
 * Beside the bundle in the self-contained folder, else in the packages; the module for the other C library fails to
 * load.
 */
function* candidates(): Generator<string> {
  if (process.platform !== 'linux') return;
  const here = import.meta.url;
  const folder = here.startsWith('file:') ? dirname(fileURLToPath(here)) : dirname(here);
  const beside = join(folder, 'ffi-rs.node');
  if (existsSync(beside)) yield beside;
  const ours = createRequire(here);
  for (const libc of ['gnu', 'musl']) {
    const name = `linux-${process.arch}-${libc}`;
    const found = resolved(ours, `@yuuang/ffi-rs-${name}/ffi-rs.${name}.node`);
    if (found !== undefined) yield found;
  }
}

function resolved(ours: NodeJS.Require, request: string): string | undefined {
  for (const from of [() => ours, () => createRequire(ours.resolve('ffi-rs'))]) {
    try {
      return from().resolve(request);
    } catch {
      // try the next place
    }
  }
  return undefined;
}

/** A failed C call. `errno` is positive; `errnoName` is a name such as `EPERM`. */
export class NativeError extends SvcError {
  readonly call: string;
  readonly errno: number;
  readonly errnoName: string;

  constructor(call: string, errno: number, nextStep = 'Check what the kernel and the container permit.') {
    const [name, text] = getSystemErrorMap().get(-errno) ?? [errnoName(errno), ''];
    super('NATIVE_CALL_FAILED', `${call}: ${text ? `${text} (${name})` : name}`, {
      nextStep,
      exitStatus: exitStatus.system,
    });
    this.call = call;
    this.errno = errno;
    this.errnoName = name;
  }
}

/** Falls back to the number for errors that libuv does not know, such as ECHILD. */
function errnoName(errno: number): string {
  const known = Object.entries(constants.errno).find(([, number]) => number === errno);
  return known?.[0] ?? `errno ${errno}`;
}

/** The result of a C function, and the errno that it set. */
export interface Returned<T> {
  value: T;
  errnoCode: number;
}

/** A shared library other than the C library. Functions are called in this thread, one after another. */
export interface Library {
  /** Calls a function that returns an int or a smaller type. */
  int(name: string, ...args: readonly Argument[]): number;
  /** Calls a function that returns a pointer or another 64-bit integer. */
  pointer(name: string, ...args: readonly Argument[]): Returned<bigint>;
}

/**
 * Opens a library for the lifetime of the process.
 * @param path a file, or a name that the dynamic linker searches for, such as `libbpf.so.1`
 * @throws Error with the dynamic linker's reason
 */
export function openLibrary(path: string): Library {
  addon().open({ library: path, path });
  return {
    int: (name, ...args) => invoke(name, int, args, false, path) as number,
    pointer: (name, ...args) => invoke(name, long, args, true, path) as Returned<bigint>,
  };
}
