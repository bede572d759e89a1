import { exitStatus, SvcError } from '../../core/errors.ts';
import type { Argument } from '../native/libc.ts';
import { type Library, openLibrary } from '../native/library.ts';
import { NativeError } from '../native/native-error.ts';

const soname = 'libbpf.so.1';
const unprinted = 0n;

let opened: Library | undefined;

/**
 * libbpf 1.x, opened at the first call. It prints nothing from then on.
 * @throws SvcError LIBBPF_UNAVAILABLE (exit 71)
 */
export function loadLibbpf(): Library {
  opened ??= open();
  return opened;
}

/** Such as `v1.1`. */
export function libbpfVersion(): string {
  const library = loadLibbpf();
  return `v${library.int('libbpf_major_version')}.${library.int('libbpf_minor_version')}`;
}

/**
 * Calls a function of libbpf that returns a negative errno on failure.
 * @param what that the error names, such as a map
 * @throws NativeError
 */
export function bpfInt(what: string, name: string, ...args: readonly Argument[]): number {
  const value = loadLibbpf().int(name, ...args);
  if (value < 0) throw new NativeError(`${name} (${what})`, -value);
  return value;
}

/**
 * Calls a function of libbpf that returns NULL on failure, and leaves an errno.
 * @throws NativeError
 */
export function bpfPointer(what: string, name: string, ...args: readonly Argument[]): bigint {
  const { value, errnoCode } = loadLibbpf().pointer(name, ...args);
  if (value === 0n) throw new NativeError(`${name} (${what})`, errnoCode);
  return value;
}

/** The same for a function that may well return NULL. */
export function bpfAddress(name: string, ...args: readonly Argument[]): bigint {
  return loadLibbpf().pointer(name, ...args).value;
}

function open(): Library {
  const library = openOrExplain();
  library.pointer('libbpf_set_print', unprinted);
  return library;
}

function openOrExplain(): Library {
  try {
    return openLibrary(soname);
  } catch (error) {
    if (error instanceof SvcError) throw error;
    throw new SvcError('LIBBPF_UNAVAILABLE', `${soname} cannot be opened: ${(error as Error).message}`, {
      nextStep: 'Install libbpf 1.x, which Debian and Ubuntu call libbpf1.',
      exitStatus: exitStatus.system,
      cause: error,
    });
  }
}
