import { constants } from 'node:os';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { NativeError } from '../../../runtime/native/libc.ts';
import type { Region } from '../../../runtime/native/memory.ts';
import {
  type Change,
  directChildren,
  dropPending,
  endBySignals,
  ignoreRealTimeSignals,
  ignoreSignal,
  readProcess,
  resetSignals,
  sendSignal,
  unblockSignal,
  waitAny,
  withSignalsBlocked,
} from '../../../runtime/native/processes.ts';
import type { SecretMemory } from '../../../runtime/native/secret-memory.ts';
import {
  cannotExecute,
  execute,
  findProgram,
  makeStandardBlocking,
  prepareExecution,
  spawn,
  stringsLength,
  writeStrings,
} from '../../../runtime/native/spawn.ts';
import {
  type Application,
  createApplication,
  endingOf,
  endingSignals,
  forwardedSignals,
  limitSignals,
  type OnEvent,
  type Supervised,
  terminalAccessSignals,
} from './application.ts';
import { createJob, type Job } from './job.ts';

export type { Application, Ending, SupervisionEvent } from './application.ts';

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

interface SupervisorOptions {
  readonly signals: SignalPost;
  /** Forwarded signals go to the application's process group (SVC_SIGNAL_GROUP). */
  readonly signalGroup: boolean;
  /** From a forwarded SIGTERM to SIGKILL (SVC_STOP_GRACE). */
  readonly stopGraceMs: number;
  readonly onEvent?: OnEvent;
}

/** A small init: runs one application at a time and reaps processes that the application leaves behind. */
export interface Supervisor {
  /**
   * Starts the application; signals are forwarded to it until it has ended.
   * @throws SvcError exit 127 (not found), 126 (cannot be run), 78 (a NUL in argument or variable)
   */
  start(launch: Launch): Application;
  /** Ends and reaps everything below this process, including daemons; another start may follow. */
  end(graceMs: number): Promise<void>;
}

/** Orphans escape the supervisor unless this process is PID 1 or a sub-reaper. */
export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { signals, signalGroup, stopGraceMs, onEvent = () => {} } = options;
  let current: Supervised | undefined;

  const onChange = (change: Change) => {
    const ending = endingOf(change);
    if (change.pid !== current?.pid) {
      if (ending) onEvent({ kind: 'reaped', pid: ending.pid, exitCode: ending.exitCode });
      return;
    }
    if (ending) signals.deliverTo(undefined);
    current.changed(change);
    if (ending) current = undefined;
  };
  const children = createChildren(onChange);
  ignoreRealTimeSignals(); // they cannot be forwarded, and would leave the application without its wrapper

  /** Watches before the start, because an application may end at once; stops watching if the start fails. */
  const watched = (start: () => number) => {
    children.watch();
    try {
      return start();
    } catch (error) {
      children.unwatch();
      throw error;
    }
  };

  return {
    start(launch) {
      const job = createJob(signalGroup);
      const pid = watched(() => run(launch, job));
      job.began(pid);
      const refresh = children.check;
      const application = createApplication({ pid, job, signalGroup, stopGraceMs, refresh, onEvent });
      current = application;
      signals.deliverTo(application.receive);
      return application;
    },
    async end(graceMs) {
      await endDescendants(children, graceMs, onEvent);
      children.unwatch();
    },
  };
}

function run(launch: Launch, job: Job): number {
  const file = findProgram(launch.file);
  try {
    return withStrings(launch, (strings) =>
      spawn({
        file,
        ...strings,
        inherit: inherited(launch),
        terminal: job.terminalAtStart,
        ownGroup: job.mode !== 'shared',
      }),
    );
  } catch (error) {
    throw error instanceof NativeError && error.call === 'posix_spawn'
      ? cannotExecute(launch.file, error)
      : error;
  }
}

/** Catches the signals sent to the wrapper and passes them on. */
export interface SignalPost {
  /** Sets the receiver of signals from now on; undefined for none. */
  deliverTo(receiver: ((signal: string) => void) | undefined): void;
}

/**
 * Catches signals from now on. Call early: signals before this call are not caught.
 * @param onEndWithoutApplication called for SIGTERM, SIGINT, SIGQUIT and SIGHUP while there is no receiver; other
 * signals are ignored then
 */
export function catchSignals(onEndWithoutApplication: (signal: string) => void): SignalPost {
  let receiver: ((signal: string) => void) | undefined;
  const own = ignoreTerminalAccess();
  for (const signal of forwardedSignals) {
    if (own.has(signal)) continue;
    process.on(signal, () => {
      if (receiver) receiver(signal);
      else if (endingSignals.has(signal)) onEndWithoutApplication(signal);
    });
  }
  for (const signal of limitSignals) process.on(signal, () => undefined);
  // blocked by Node's --disable-sigusr1, with which the wrapper's folder starts
  unblockSignal(constants.signals.SIGUSR1);
  return {
    deliverTo(next) {
      receiver = next;
    },
  };
}

/** Otherwise a log line written from the background would stop the application (`stty tostop`). */
function ignoreTerminalAccess(): ReadonlySet<string> {
  if ((readProcess('self')?.terminal ?? 0) === 0) return new Set();
  for (const signal of terminalAccessSignals) ignoreSignal(constants.signals[signal]);
  return new Set(terminalAccessSignals);
}

const { SIGTERM, SIGCONT, SIGKILL } = constants.signals;
const pollMs = 10;
/** How long to wait for killed processes: one blocked on a dead disk never ends. */
const killedWithinMs = 5000;
const everybody = -1;

/**
 * Ends all processes left below this one: SIGTERM once, SIGKILL after the grace. Only children are signalled, because
 * their ids cannot have been reused. When a child ends, its children become children of this process, which is PID 1 or
 * a sub-reaper, and are signalled next.
 */
async function endDescendants(children: Children, graceMs: number, onEvent: OnEvent): Promise<void> {
  const killAt = performance.now() + graceMs;
  const told = new Set<number>();
  while (children.check()) {
    const now = performance.now();
    if (now > killAt + killedWithinMs) return onEvent({ kind: 'left', pids: directChildren() ?? [] });
    for (const pid of targets()) {
      if (now >= killAt) send(pid, SIGKILL);
      else if (!told.has(pid)) terminate(pid);
      told.add(pid);
    }
    await sleep(pollMs);
  }
}

/** The last resort: does not reach the children of the killed processes. */
export function killChildren(): void {
  for (const pid of targets()) send(pid, SIGKILL);
}

/** Without /proc, PID 1 can still signal all processes at once. */
function targets(): number[] {
  return directChildren() ?? (process.pid === 1 ? [everybody] : []);
}

function terminate(pid: number): void {
  send(pid, SIGTERM);
  if (readProcess(pid)?.state === 'T') send(pid, SIGCONT);
}

function send(pid: number, signal: number): void {
  try {
    sendSignal(pid, signal);
  } catch {
    // gone, or not permitted: then it is reported as left
  }
}

/** All children of this process, including those adopted as PID 1 or sub-reaper. */
interface Children {
  /**
   * Reports every change and reaps ended processes.
   * @returns false if no child is left
   */
  check(): boolean;
  /** Checks at every SIGCHLD from now on; keeps the process alive until `unwatch`. */
  watch(): void;
  unwatch(): void;
}

/** In case a SIGCHLD was lost. */
const checkEveryMs = 1000;

function createChildren(onChange: (change: Change) => void): Children {
  let timer: NodeJS.Timeout | undefined;
  const check = () => {
    for (;;) {
      const change = waitAny();
      if (change === 'none') return true;
      if (change === 'childless') return false;
      onChange(change);
    }
  };
  return {
    check,
    watch() {
      if (timer) return;
      process.on('SIGCHLD', check);
      timer = setInterval(check, checkEveryMs);
    },
    unwatch() {
      process.off('SIGCHLD', check);
      clearInterval(timer);
      timer = undefined;
    },
  };
}

/** An application to start. */
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
