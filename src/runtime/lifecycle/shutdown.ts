import { constants } from 'node:os';
import { formatDuration } from '../../core/duration.ts';
import { exitStatus } from '../../core/errors.ts';
import type { Logger } from '../logging/logger.ts';

export interface Shutdown {
  /** Aborted by the first SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
  /** Resolves with an exit status when waiting for the drain is over: time is up, or a second signal came. */
  readonly cutShort: Promise<number>;
  stopWatching(): void;
}

type StopSignal = 'SIGTERM' | 'SIGINT';

/** Turns signals into one orderly end within a bound. SIGHUP is ignored. */
export function watchShutdown(graceMs: number, log: Logger): Shutdown {
  const controller = new AbortController();
  const cutShort = Promise.withResolvers<number>();
  let timer: NodeJS.Timeout | undefined;
  const onSignal = (name: StopSignal) => {
    if (controller.signal.aborted) {
      log.warn('shutdown.forced', { signal: name });
      return cutShort.resolve(128 + constants.signals[name]);
    }
    log.info('shutdown.begin', { signal: name, grace: formatDuration(graceMs) });
    timer = setTimeout(() => {
      log.error('shutdown.overdue', { grace: formatDuration(graceMs) });
      cutShort.resolve(exitStatus.failure);
    }, graceMs);
    controller.abort();
  };
  const forget = listen(onSignal);
  const stopWatching = () => {
    clearTimeout(timer);
    forget();
  };
  return { signal: controller.signal, cutShort: cutShort.promise, stopWatching };
}

function listen(onSignal: (name: StopSignal) => void): () => void {
  const ignore = () => {};
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal).on('SIGHUP', ignore);
  return () => void process.off('SIGTERM', onSignal).off('SIGINT', onSignal).off('SIGHUP', ignore);
}
