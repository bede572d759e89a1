import { NativeError } from '../../../runtime/native/libc.ts';
import { type Change, sendSignal, signalNumber } from '../../../runtime/native/processes.ts';
import type { Job } from './job.ts';

/** An application that was started. */
export interface Application {
  readonly pid: number;
  readonly ended: Promise<Ending>;
  /**
   * The signal that asked the wrapper to end: SIGTERM at any time, SIGINT, SIGQUIT or SIGHUP during `stop`. The
   * application must not be restarted then.
   */
  readonly endRequest: string | undefined;
  /** Sends a signal, such as `SIGHUP`; does nothing after the application has ended. */
  signal(name: string): void;
  /** Sends SIGTERM, SIGCONT if the application is stopped, SIGKILL after the grace; resolves when it has ended. */
  stop(graceMs: number): Promise<Ending>;
}

/** An application with the supervisor's side of it. */
export interface Supervised extends Application {
  /** Handles a signal that the wrapper received. */
  receive(name: string): void;
  /** Handles a state change of the application's process. */
  changed(change: Change): void;
}

export interface ApplicationOptions {
  readonly pid: number;
  readonly job: Job;
  /** Whether signals go to the application's process group. */
  readonly signalGroup: boolean;
  /** From a forwarded SIGTERM to SIGKILL. */
  readonly stopGraceMs: number;
  /** Takes note of state changes of the children. */
  readonly refresh: () => void;
  readonly onEvent: OnEvent;
}

const stopSignals = new Set(['SIGTSTP', 'SIGTTIN', 'SIGTTOU']);

export function createApplication(options: ApplicationOptions): Supervised {
  const { pid, job, signalGroup, stopGraceMs, refresh, onEvent } = options;
  const { promise: ended, resolve } = Promise.withResolvers<Ending>();
  const hasOwnGroup = job.mode !== 'shared';
  let over = false;
  let stopped = false;
  let stopSent = false;
  let stopping = false;
  let endRequest: string | undefined;
  let killTimer: NodeJS.Timeout | undefined;

  const send = (name: string, toGroup = signalGroup) => {
    if (over) return;
    if (stopSignals.has(name)) stopSent = true;
    try {
      sendSignal(toGroup && hasOwnGroup ? -pid : pid, signalNumber(name));
    } catch (error) {
      if (!(error instanceof NativeError)) throw error;
      onEvent({ kind: 'undeliverable', pid, signal: name, reason: error.errnoName });
    }
  };
  const terminate = (graceMs: number) => {
    send('SIGTERM');
    if (stopped) send('SIGCONT', true);
    killTimer ??= setTimeout(() => {
      onEvent({ kind: 'killed', pid, graceMs });
      send('SIGKILL');
    }, graceMs);
  };
  const resume = () => {
    refresh();
    if (stopped) send('SIGCONT', true);
  };
  const end = (ending: Ending) => {
    over = true;
    clearTimeout(killTimer);
    job.ended();
    resolve(ending);
  };
  const onStop = (signal: string) => {
    stopped = true;
    onEvent({ kind: 'stopped', pid, signal });
    const sentByUs = stopSent;
    stopSent = false;
    if (job.stopped(signal, sentByUs) === 'continue') send('SIGCONT', true);
  };

  return {
    pid,
    ended,
    get endRequest() {
      return endRequest;
    },
    signal: (name) => send(name),
    stop(graceMs) {
      stopping = true;
      if (!over && killTimer === undefined) terminate(graceMs);
      return ended;
    },
    receive(name) {
      if (name === 'SIGTERM' || (stopping && endingSignals.has(name))) endRequest ??= name;
      if (name === 'SIGCONT' && job.resumed()) return resume();
      if (job.withholds(name) && !stopped) return;
      return name === 'SIGTERM' ? terminate(stopGraceMs) : send(name);
    },
    changed(change) {
      const ending = endingOf(change);
      if (ending) return end(ending);
      if (change.kind === 'stopped') return onStop(change.signal);
      stopped = false;
      onEvent({ kind: 'continued', pid });
    },
  };
}

export interface Ending {
  readonly pid: number;
  /** The exit status, or 128 + the number of the signal that ended the process. */
  readonly exitCode: number;
  /** The signal that ended the process, such as `SIGKILL`. */
  readonly signal?: string;
}

const signalBase = 128;

/** Undefined for other changes than an end. */
export function endingOf(change: Change): Ending | undefined {
  const { pid } = change;
  if (change.kind === 'exited') return { pid, exitCode: change.code };
  if (change.kind !== 'killed') return undefined;
  return { pid, exitCode: signalBase + signalNumber(change.signal), signal: change.signal };
}

/** What happens to processes below the wrapper, for the log. */
export type SupervisionEvent =
  /** An adopted orphan has ended and was reaped. */
  | { readonly kind: 'reaped'; readonly pid: number; readonly exitCode: number }
  | { readonly kind: 'stopped'; readonly pid: number; readonly signal: string }
  | { readonly kind: 'continued'; readonly pid: number }
  /** The application was killed because it still ran after its grace. */
  | { readonly kind: 'killed'; readonly pid: number; readonly graceMs: number }
  /** A signal could not be sent; `reason` is an errno such as `EPERM`. */
  | { readonly kind: 'undeliverable'; readonly pid: number; readonly signal: string; readonly reason: string }
  /** Not even SIGKILL ended these in time. */
  | { readonly kind: 'left'; readonly pids: readonly number[] };

export type OnEvent = (event: SupervisionEvent) => void;

/**
 * Signals forwarded to the application: all that Node can listen to, except for faults of the wrapper itself (SEGV,
 * BUS, FPE, ILL, SYS, TRAP), limits that the wrapper itself has reached (XCPU, XFSZ), PIPE, which the wrapper's own
 * writes can cause, and CHLD. Node does not know real-time signals.
 */
export const forwardedSignals = [
  'SIGHUP',
  'SIGINT',
  'SIGQUIT',
  'SIGABRT',
  'SIGUSR1',
  'SIGUSR2',
  'SIGALRM',
  'SIGTERM',
  'SIGSTKFLT',
  'SIGCONT',
  'SIGTSTP',
  'SIGTTIN',
  'SIGTTOU',
  'SIGURG',
  'SIGVTALRM',
  'SIGPROF',
  'SIGWINCH',
  'SIGIO',
  'SIGPWR',
] as const satisfies readonly NodeJS.Signals[];

/** A limit that the wrapper itself reaches should fail the call, not end the process. */
export const limitSignals = ['SIGXCPU', 'SIGXFSZ'] as const satisfies readonly NodeJS.Signals[];

/** A wrapper with a terminal gets these only for its own use of the terminal. */
export const terminalAccessSignals = ['SIGTTIN', 'SIGTTOU'] as const satisfies readonly NodeJS.Signals[];

/** These end the wrapper while there is no application to forward them to. */
export const endingSignals: ReadonlySet<string> = new Set(['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP']);
