import { constants } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import { NativeError } from '../../runtime/native/libc.ts';
import type { Region } from '../../runtime/native/memory.ts';
import {
  dropPending,
  endBySignals,
  resetSignals,
  withSignalsBlocked,
} from '../../runtime/native/processes.ts';
import type { SecretMemory } from '../../runtime/native/secret-memory.ts';
import {
  cannotExecute,
  execute,
  findProgram,
  makeStandardBlocking,
  prepareExecution,
  stringsLength,
  writeStrings,
} from '../../runtime/native/spawn.ts';
import { endingSignals } from './interruption.ts';

/**
 * Replaces the wrapper by the application, which keeps the process id (SVC_EXEC). No signal is lost: those already
 * caught are delivered to their listener, later ones have their default effect on the process.
 * @param interrupted aborted by a listener that ends the wrapper: then nothing is started
 * @throws SvcError exit 127 (not found), 126 (cannot be run), 78 (a NUL in argument or variable); the reason of
 * `interrupted`. After an error signals are caught as before
 */
export async function becomeApplication(launch: Launch, interrupted?: AbortSignal): Promise<never> {
  const file = findProgram(launch.file);
  const restoreSignals = resetSignals();
  try {
    await deliverCaught();
    interrupted?.throwIfAborted();
    return withStrings(launch, (strings) => execute({ file, ...strings, inherit: inherited(launch) }));
  } catch (error) {
    restoreSignals();
    throw error instanceof NativeError && error.call === 'execve' ? cannotExecute(launch.file, error) : error;
  }
}

const endingNumbers = [...endingSignals].map((name) => constants.signals[name as NodeJS.Signals]);

/**
 * Replaces the wrapper by svc-init. No signal that ends the wrapper is lost: those already caught are delivered to
 * their listener, later ones end the process at once, and those that arrive during execve stay pending for svc-init.
 * @throws SvcError exit 127 (not found), 126 (cannot be run); the reason of `interrupted`. After an error signals are
 * caught as before
 */
export async function becomeInit(launch: Launch, interrupted: AbortSignal): Promise<never> {
  const layout = layOut(launch);
  const restoreSignals = endBySignals(endingNumbers);
  try {
    const executeNow = prepareExecution({
      file: launch.file,
      ...layout.strings,
      inherit: inherited(launch),
    });
    await deliverCaught();
    interrupted.throwIfAborted();
    dropPending(constants.signals.SIGUSR1); // --disable-sigusr1 has blocked it since Node's start
    return withSignalsBlocked(executeNow);
  } catch (error) {
    restoreSignals();
    throw error instanceof NativeError && error.call === 'execve' ? cannotExecute(launch.file, error) : error;
  } finally {
    layout.release();
  }
}

/** The first turn ends the current iteration of the event loop, the second waits for a whole iteration. */
async function deliverCaught(): Promise<void> {
  await turn();
  await turn();
}

/** A program to start. */
export interface Launch {
  /** A path, or a name to be found in PATH. */
  readonly file: string;
  /** Excluding the program's name. */
  readonly args: readonly (string | Uint8Array)[];
  /** The whole environment, as `KEY=VALUE` bytes, which may lie in secret memory. */
  readonly env: readonly Uint8Array[];
  /** A descriptor to inherit besides 0, 1 and 2, under the same number. */
  readonly descriptor?: number | undefined;
  /** Allocates the memory for arguments and environment. */
  readonly memory: SecretMemory;
}

/** Addresses as `posix_spawn` and `execve` take them. */
export interface Strings {
  readonly argv: bigint;
  readonly env: bigint;
}

/**
 * Lays out arguments and environment, runs `use`, then wipes them. Meanwhile the standard streams are blocking.
 * @throws SvcError NUL_IN_STRING (exit 78)
 */
export function withStrings<T>(launch: Launch, use: (strings: Strings) => T): T {
  const layout = layOut(launch);
  try {
    return use(layout.strings);
  } finally {
    layout.release();
  }
}

function layOut(launch: Launch): { readonly strings: Strings; release(): void } {
  const argv = [launch.file, ...launch.args];
  const split = stringsLength(argv);
  const region: Region = launch.memory.allocate(split + stringsLength(launch.env));
  try {
    const { bytes, address } = region;
    const env = address + BigInt(split);
    writeStrings(bytes.subarray(0, split), address, argv);
    writeStrings(bytes.subarray(split), env, launch.env);
    makeStandardBlocking();
    return { strings: { argv: address, env }, release: () => region.release() };
  } catch (error) {
    region.release();
    throw error;
  }
}

/** The descriptors that the program inherits. */
export function inherited({ descriptor }: Launch): number[] {
  return descriptor === undefined ? [0, 1, 2] : [0, 1, 2, descriptor];
}
