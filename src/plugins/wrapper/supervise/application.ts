import { NativeError } from '../../../runtime/native/libc.ts';
import { type Change, sendSignal, signalNumber } from '../../../runtime/native/processes.ts';
import type { Job } from './job.ts';

/** An application that was started. */
export interface Application {
  readonly pid: number;
  readonly ended: Promise<Ending>;
  /**
   * The signal by which somebody asked the wrapper to end: SIGTERM at any time, SIGINT, SIGQUIT or SIGHUP during
   * `stop`. The application is not to be started again then.
   */
  readonly endRequest: string | undefined;
  /** Sends a signal, such as `SIGHUP`; nothing happens when it has ended. */
  signal(name: string): void;
  /** SIGTERM, SIGCONT if it is stopped, SIGKILL when the grace is over; resolves when it has ended. */
  stop(graceMs: number): Promise<Ending>;
}

/** The supervisor's side of it. */
export interface Supervised extends Application {
  /** A signal that the wrapper has got. */
  receive(name: string): void;
  /** A change of this very process. */
  changed(change: Change): void;
}

export interface ApplicationOptions {
  readonly pid: number;
  readonly job: Job;
  /** Signals go to its process group. */
  readonly signalGroup: boolean;
  /** From a SIGTERM that the wrapper forwards to SIGKILL. */
  readonly stopGraceMs: number;
  /** Takes note of what has become of the children meanwhile. */
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

/** How an application ended. */
export interface Ending {
  readonly pid: number;
  /** Its exit status, 128 + the signal's number when a signal ended it. */
  readonly exitCode: number;
  /** The signal that ended it, such as `SIGKILL`. */
  readonly signal?: string;
}

const signalBase = 128;

/** Undefined for a change that is no end. */
export function endingOf(change: Change): Ending | undefined {
  const { pid } = change;
  if (change.kind === 'exited') return { pid, exitCode: change.code };
  if (change.kind !== 'killed') return undefined;
  return { pid, exitCode: signalBase + signalNumber(change.signal), signal: change.signal };
}

/** What happens to processes below the wrapper, for its log. */
export type SupervisionEvent =
  /** Somebody's orphan has ended and was reaped. */
  | { readonly kind: 'reaped'; readonly pid: number; readonly exitCode: number }
  | { readonly kind: 'stopped'; readonly pid: number; readonly signal: string }
  | { readonly kind: 'continued'; readonly pid: number }
  /** The application still ran when its grace was over. */
  | { readonly kind: 'killed'; readonly pid: number; readonly graceMs: number }
  /** A signal could not be sent; `reason` is an errno such as `EPERM`. */
  | { readonly kind: 'undeliverable'; readonly pid: number; readonly signal: string; readonly reason: string }
  /** Not even SIGKILL has ended these in time. */
  | { readonly kind: 'left'; readonly pids: readonly number[] };

export type OnEvent = (event: SupervisionEvent) => void;

/**
 * Signals that are forwarded to the application: all that Node can listen to.
 * Left out are those by which the kernel reports a fault of the wrapper itself (SEGV, BUS, FPE, ILL, SYS, TRAP), limits
 * that it has reached itself (XCPU, XFSZ), PIPE, which the wrapper's own writes can cause, and CHLD. Node knows no real-time signals.
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

/** What it has reached itself is an error of the call that met it, and no reason to end. */
export const limitSignals = ['SIGXCPU', 'SIGXFSZ'] as const satisfies readonly NodeJS.Signals[];

/** A wrapper that has a terminal gets these for its own use of it only. */
export const terminalAccessSignals = ['SIGTTIN', 'SIGTTOU'] as const satisfies readonly NodeJS.Signals[];

/** With no application to pass them to, these end the wrapper. */
export const endingSignals: ReadonlySet<string> = new Set(['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGHUP']);
