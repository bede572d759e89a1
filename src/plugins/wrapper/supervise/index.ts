import { constants } from 'node:os';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { execute } from '../../../runtime/native/execute.ts';
import { NativeError } from '../../../runtime/native/native-error.ts';
import { directChildren, readProcess } from '../../../runtime/native/process-table.ts';
import { cannotExecute, findProgram } from '../../../runtime/native/program.ts';
import {
  ignoreRealTimeSignals,
  ignoreSignal,
  resetSignals,
  sendSignal,
  unblockSignal,
} from '../../../runtime/native/signals.ts';
import { spawn } from '../../../runtime/native/spawn.ts';
import type { Change } from '../../../runtime/native/wait.ts';
import { type Application, createApplication, type Supervised } from './application.ts';
import { type Children, createChildren } from './children.ts';
import { endingOf } from './ending.ts';
import type { OnEvent } from './events.ts';
import { endingSignals, forwardedSignals, terminalAccessSignals } from './forwarded-signals.ts';
import { createJob, type Job } from './job.ts';
import { inherited, type Launch, withStrings } from './launch.ts';

export type { Application } from './application.ts';
export type { Ending } from './ending.ts';
export type { SupervisionEvent } from './events.ts';
export type { Launch } from './launch.ts';

/**
 * Replaces the wrapper by the application, which keeps its process id (SVC_EXEC). A signal meanwhile is not lost:
 * what was caught before is delivered to its listener, what comes later acts on the process by default.
 * @param interrupted aborted by a listener that wants the wrapper to end: nothing is started then
 * @throws SvcError exit 127 (not found), 126 (cannot be run), 78 (a NUL in argument or variable); the reason of
 * `interrupted`; all is as before then
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

/** The first turn ends the current round of the event loop, the second one waits for a whole round. */
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

/** A small init: one application at a time, and whatever it leaves behind. */
export interface Supervisor {
  /**
   * Starts the application; forwarded signals reach it from then on until it has ended.
   * @throws SvcError exit 127 (not found), 126 (cannot be run), 78 (a NUL in argument or variable)
   */
  start(launch: Launch): Application;
  /** Ends and reaps everything below this process, daemons included; may be followed by another start. */
  end(graceMs: number): Promise<void>;
}

/** The process should be PID 1 or a sub-reaper, else orphans escape it. */
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

  /** Watches before the start, because an application may end at once; no longer when it fails. */
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

/** Catches what is sent to the wrapper and hands it on. */
export interface SignalPost {
  /** Who gets each signal from now on; undefined for nobody. */
  deliverTo(receiver: ((signal: string) => void) | undefined): void;
}

/**
 * Catches signals from now on; to be called before anything else takes time.
 * @param onEndWithoutApplication is called for SIGTERM, SIGINT, SIGQUIT and SIGHUP while nobody receives them;
 * other signals come to nothing then
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
  // blocked by Node's --disable-sigusr1, with which the wrapper's folder starts
  unblockSignal(constants.signals.SIGUSR1);
  return {
    deliverTo(next) {
      receiver = next;
    },
  };
}

/** Else a line that the wrapper logs from the background would stop the application (`stty tostop`). */
function ignoreTerminalAccess(): ReadonlySet<string> {
  if ((readProcess('self')?.terminal ?? 0) === 0) return new Set();
  for (const signal of terminalAccessSignals) ignoreSignal(constants.signals[signal]);
  return new Set(terminalAccessSignals);
}

const { SIGTERM, SIGCONT, SIGKILL } = constants.signals;
const pollMs = 10;
/** How long a killed process may take: one that waits for a dead disk takes for ever. */
const killedWithinMs = 5000;
const everybody = -1;

/**
 * Ends whatever is left below this process: SIGTERM once, SIGKILL when the grace is over.
 * Only children are signalled, whose ids nobody else can have got meanwhile: what they leave behind becomes a child
 * itself, this process being PID 1 or a sub-reaper, and its turn comes.
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

/** The last resort: what these leave behind is not seen to. */
export function killChildren(): void {
  for (const pid of targets()) send(pid, SIGKILL);
}

/** Without /proc, PID 1 can still name all at once. */
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
