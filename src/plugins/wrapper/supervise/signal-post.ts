import { constants } from 'node:os';
import { readProcess } from '../../../runtime/native/process-table.ts';
import { ignoreSignal, unblockSignal } from '../../../runtime/native/signals.ts';
import { endingSignals, forwardedSignals, terminalAccessSignals } from './forwarded-signals.ts';

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
