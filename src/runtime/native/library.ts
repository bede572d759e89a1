import { addon } from './addon.ts';
import { type Argument, invoke } from './libc.ts';

/** What a C function returned, and the errno that it left behind. */
export interface Returned<T> {
  value: T;
  errnoCode: number;
}

/** A shared library other than the C library. Functions are called in this thread, one after the other. */
export interface Library {
  /** Calls a function that returns an int or less; what it returns is passed on. */
  int(name: string, ...args: readonly Argument[]): number;
  /** Calls a function that returns a pointer or another 64-bit integer. */
  pointer(name: string, ...args: readonly Argument[]): Returned<bigint>;
}

const int = 1;
const long = 16;

/**
 * Opens a library for as long as the process lives.
 * @param path a file, or a name that the dynamic linker looks for, such as `libbpf.so.1`
 * @throws Error with the dynamic linker's reason
 */
export function openLibrary(path: string): Library {
  addon().open({ library: path, path });
  return {
    int: (name, ...args) => invoke(name, int, args, false, path) as number,
    pointer: (name, ...args) => invoke(name, long, args, true, path) as Returned<bigint>,
  };
}
