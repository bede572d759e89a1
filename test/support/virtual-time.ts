import { syncBuiltinESMExports } from 'node:module';
import { mock } from 'node:test';

type TimerApis = NonNullable<NonNullable<Parameters<typeof mock.timers.enable>[0]>['apis']>;

/** The published types do not know the last one, which Node 24 has. */
const STOPPED = ['setTimeout', 'setInterval', 'Date', 'AbortSignal.timeout'] as TimerApis;

/** Timers and `Date` of this process, which move as fast as the work between them allows. */
export interface VirtualTime {
  /** Milliseconds since it began: for what takes a clock, as `performance.now()` is still the machine's. */
  now(): number;
  /** Gives the machine's timers back. */
  stop(): void;
}

/**
 * Lets time pass a millisecond at a time, with a turn of the event loop after each, so that whatever is due is done before
 * more time passes, however busy the machine is.
 */
export function startVirtualTime(): VirtualTime {
  mock.timers.enable({ apis: STOPPED, now: Date.now() });
  syncBuiltinESMExports();
  const began = Date.now();
  let next: NodeJS.Immediate;
  const pass = () => {
    mock.timers.tick(1);
    next = setImmediate(pass);
  };
  next = setImmediate(pass);
  return {
    now: () => Date.now() - began,
    stop() {
      clearImmediate(next);
      mock.timers.reset();
      syncBuiltinESMExports();
    },
  };
}
