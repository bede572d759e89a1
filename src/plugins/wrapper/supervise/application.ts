import { NativeError } from '../../../runtime/native/native-error.ts';
import { sendSignal } from '../../../runtime/native/signals.ts';
import { type Change, signalNumber } from '../../../runtime/native/wait.ts';
import { type Ending, endingOf } from './ending.ts';
import type { OnEvent } from './events.ts';
import { endingSignals } from './forwarded-signals.ts';
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
