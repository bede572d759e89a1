import { signalNumber } from '../../runtime/native/wait.ts';
import { catchSignals, type SignalPost } from './supervise/index.ts';

/** A signal that ends the wrapper while no application runs. */
export interface Interruption {
  readonly signals: SignalPost;
  /** Aborted by that signal. */
  readonly signal: AbortSignal;
  /** 128 + the signal's number; undefined while there was none. */
  readonly status: number | undefined;
}

const signalBase = 128;

/** Catches signals from now on. */
export function watchInterruption(): Interruption {
  const controller = new AbortController();
  let status: number | undefined;
  const signals = catchSignals((name) => {
    status ??= signalBase + signalNumber(name);
    controller.abort();
  });
  return {
    signals,
    signal: controller.signal,
    get status() {
      return status;
    },
  };
}
