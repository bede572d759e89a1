import { makeStandardBlocking } from '../../../runtime/native/blocking.ts';
import { stringsLength, writeStrings } from '../../../runtime/native/c-strings.ts';
import type { Region } from '../../../runtime/native/region.ts';
import type { SecretMemory } from '../../../runtime/native/secret-memory.ts';

/** An application that is to be started. */
export interface Launch {
  /** A path, or a name that is looked for in PATH. */
  readonly file: string;
  /** Without the program's name. */
  readonly args: readonly (string | Uint8Array)[];
  /** Its whole environment: `KEY=VALUE` each, as bytes, which may lie in secret memory. */
  readonly env: readonly Uint8Array[];
  /** A descriptor that it gets besides 0, 1 and 2, under the same number. */
  readonly descriptor?: number | undefined;
  /** Where arguments and environment are put together. */
  readonly memory: SecretMemory;
}

/** Addresses as `posix_spawn` and `execve` take them. */
export interface Strings {
  readonly argv: bigint;
  readonly env: bigint;
}

/**
 * Lays arguments and environment out for the length of `use`, then wipes them; the standard streams are blocking then.
 * @throws SvcError NUL_IN_STRING (exit 78)
 */
export function withStrings<T>(launch: Launch, use: (strings: Strings) => T): T {
  const argv = [launch.file, ...launch.args];
  const split = stringsLength(argv);
  const region: Region = launch.memory.allocate(split + stringsLength(launch.env));
  try {
    const { bytes, address } = region;
    const env = address + BigInt(split);
    writeStrings(bytes.subarray(0, split), address, argv);
    writeStrings(bytes.subarray(split), env, launch.env);
    makeStandardBlocking();
    return use({ argv: address, env });
  } finally {
    region.release();
  }
}

/** The descriptors that the program gets. */
export function inherited({ descriptor }: Launch): number[] {
  return descriptor === undefined ? [0, 1, 2] : [0, 1, 2, descriptor];
}
