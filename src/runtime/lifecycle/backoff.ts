import {
  decorrelatedJitterGenerator,
  ExponentialBackoff,
  fullJitterGenerator,
  type IBackoff,
} from 'cockatiel';

export interface BackoffOptions {
  /** About the first delay, in milliseconds. */
  readonly initialMs: number;
  /** No delay is longer. */
  readonly maxMs: number;
  /** `decorrelated` (default) spreads around a growing delay; `full` picks from zero to it. */
  readonly jitter?: 'decorrelated' | 'full';
}

/** Growing, jittered delays. */
export interface Backoff {
  /** The next delay in milliseconds. */
  next(): number;
  /** Starts small again, after a success. */
  reset(): void;
}

export function createBackoff({ initialMs, maxMs, jitter = 'decorrelated' }: BackoffOptions): Backoff {
  const bounds = { initialDelay: initialMs, maxDelay: maxMs };
  const policy =
    jitter === 'full'
      ? new ExponentialBackoff({ ...bounds, generator: fullJitterGenerator })
      : new ExponentialBackoff({ ...bounds, generator: decorrelatedJitterGenerator });
  let step: IBackoff<unknown> = policy.next();
  let fresh = true;
  return {
    next() {
      if (!fresh) step = step.next(undefined);
      fresh = false;
      return step.duration;
    },
    reset() {
      step = policy.next();
      fresh = true;
    },
  };
}
