import { closeOthersOnExec } from './descriptors.ts';
import { callInt } from './libc.ts';
import { NativeError } from './native-error.ts';
import { withScratch } from './scratch.ts';
import { setForegroundGroup } from './terminal.ts';

export interface SpawnRequest {
  /** The file; PATH is not searched. */
  readonly file: string;
  /** Addresses of what `writeStrings` wrote. */
  readonly argv: bigint;
  readonly env: bigint;
  /** Descriptors that it gets, under the same numbers; all others are closed. */
  readonly inherit: readonly number[];
  /** The controlling terminal in whose foreground its group is put before the program starts. */
  readonly terminal?: number | undefined;
  /** Whether it leads a process group of its own. */
  readonly ownGroup: boolean;
}

export type Call = typeof callInt;

/** More than `posix_spawnattr_t` (336) and `posix_spawn_file_actions_t` (80) take in glibc and musl. */
const structLength = 512;
const maskLength = 128;
const addTerminal = 'posix_spawn_file_actions_addtcsetpgrp_np';
const flags = { ownGroup: 2, defaultSignals: 4, signalMask: 8 } as const;

/**
 * Starts a program with every signal at its default action and none blocked.
 * The strings may be wiped when this returns.
 * @returns its process id
 * @throws NativeError with the errno of what failed, execve included
 */
export function spawn(request: SpawnRequest, call: Call = callInt): number {
  closeOthersOnExec();
  return withActions((actions) => {
    for (const descriptor of request.inherit) {
      succeed('posix_spawn_file_actions_adddup2', actions, descriptor, descriptor);
    }
    const moved = request.terminal !== undefined && addForeground(actions, request.terminal, call);
    const pid = withAttributes(request.ownGroup, (attributes) => start(request, actions, attributes));
    if (request.terminal !== undefined && !moved) addForegroundLate(request.terminal, pid);
    return pid;
  });
}

function start(request: SpawnRequest, actions: bigint, attributes: bigint): number {
  const path = Buffer.from(`${request.file}\0`);
  return withScratch(path.length, (file) => {
    file.bytes.set(path);
    return withScratch(4, (pid) => {
      succeed('posix_spawn', pid.address, file.address, actions, attributes, request.argv, request.env);
      return pid.bytes.readInt32LE();
    });
  });
}

function withActions<T>(use: (actions: bigint) => T): T {
  return withScratch(structLength, ({ address }) => {
    succeed('posix_spawn_file_actions_init', address);
    try {
      return use(address);
    } finally {
      callInt('posix_spawn_file_actions_destroy', address);
    }
  });
}

function withAttributes<T>(ownGroup: boolean, use: (attributes: bigint) => T): T {
  return withScratch(structLength + maskLength, ({ address, bytes }) => {
    const mask = address + BigInt(structLength);
    succeed('posix_spawnattr_init', address);
    succeed('posix_spawnattr_setsigmask', address, mask);
    // not sigfillset, which leaves out two that glibc keeps for itself, and which the program would then ignore
    bytes.fill(0xff, structLength);
    succeed('posix_spawnattr_setsigdefault', address, mask);
    const group = ownGroup ? flags.ownGroup : 0;
    succeed('posix_spawnattr_setflags', address, flags.defaultSignals | flags.signalMask | group);
    return use(address);
  });
}

/** False on musl and glibc before 2.35, which cannot do it between fork and exec: calling it fails then. */
function addForeground(actions: bigint, terminal: number, call: Call): boolean {
  try {
    check(addTerminal, call(addTerminal, actions, terminal));
    return true;
  } catch (error) {
    if (error instanceof NativeError) throw error;
    return false;
  }
}

/** The program runs already, or has ended by now: it is not to be taken for one that could not be started. */
function addForegroundLate(terminal: number, pid: number): void {
  try {
    setForegroundGroup(terminal, pid);
  } catch (error) {
    if (!(error instanceof NativeError)) throw error;
  }
}

function succeed(name: string, ...args: (number | bigint)[]): void {
  check(name, callInt(name, ...args));
}

/** These functions return the error number themselves. */
function check(name: string, error: number): void {
  if (error !== 0) throw new NativeError(name, error);
}
