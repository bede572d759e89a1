import { describeError } from '../logging/describe-error.ts';
import type { Logger } from '../logging/logger.ts';
import type { Leadership } from './leadership.ts';

/** Two clocks in milliseconds: one that only grows, and the one on the wall, which goes on while a machine sleeps. */
export interface ElectorClocks {
  monotonic(): number;
  wall(): number;
}

export const systemClocks: ElectorClocks = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
};

export interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

/** The time for which a renewal lets us lead. It ends by itself, before anybody else can begin theirs. */
export interface Term extends Leadership {
  /** Where a term was, or still is, ours: until when, in milliseconds from now; 0 or less when it is over. */
  remainingMs(): number;
  now(): Moment;
  /** @param sent when the renewal that succeeded was sent: the lease is not older than that */
  extend(sent: Moment): void;
  end(reason: string): void;
}

/** @param lengthMs how long a renewal holds */
export function createTerm(lengthMs: number, clocks: ElectorClocks, log: Logger): Term {
  const handlers = new Set<(leading: boolean) => void>();
  let last: Moment | undefined;
  let leading = false;
  let timer: NodeJS.Timeout | undefined;

  const now = () => ({ monotonic: clocks.monotonic(), wall: clocks.wall() });
  const remainingMs = () => (last === undefined ? 0 : lengthMs - elapsed(last, now()));
  const set = (next: boolean) => {
    if (leading === next) return;
    leading = next;
    for (const handle of [...handlers]) tell(handle, next, log);
  };
  const end = (reason: string) => {
    clearTimeout(timer);
    last = undefined;
    if (leading) log.warn('leader.lost', { reason });
    set(false);
  };
  const check = () => {
    const left = remainingMs();
    if (left <= 0) return end('the lease could not be renewed in time');
    timer = setTimeout(check, left);
  };
  return {
    get leading() {
      return leading && remainingMs() > 0;
    },
    onChange(handle) {
      handlers.add(handle);
      if (leading) tell(handle, true, log);
      return () => void handlers.delete(handle);
    },
    ...{ now, remainingMs, end },
    extend(sent) {
      // a process that stood still finds its term over before its timer does
      if (leading && remainingMs() <= 0) end('the term was over before it was renewed');
      clearTimeout(timer);
      last = sent;
      check();
      if (last === undefined) return;
      if (!leading) log.info('leader.began');
      set(true);
    },
  };
}

/** A sleep of the machine stops the one clock, a step of the other makes the term too short: the longer time counts. */
function elapsed(from: Moment, to: Moment): number {
  return Math.max(to.monotonic - from.monotonic, to.wall - from.wall);
}

/** A handler that throws must not keep others from being told. */
function tell(handle: (leading: boolean) => void, leading: boolean, log: Logger): void {
  try {
    handle(leading);
  } catch (error) {
    log.error('leader.handler.failed', describeError(error));
  }
}
