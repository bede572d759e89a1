import { randomBytes } from 'node:crypto';
import { createBackoff } from '../lifecycle/backoff.ts';
import { sleep } from '../lifecycle/sleep.ts';
import { describeError } from '../logging/describe-error.ts';
import { Candidate } from './elector-candidate.ts';
import { type ElectorOptions, electorTimes } from './elector-options.ts';
import { createTerm, systemClocks } from './elector-term.ts';
import type { Leadership } from './leadership.ts';
import { observeLease } from './lease-observation.ts';
import { createLeaseStore } from './lease-store.ts';

export interface Elector extends Leadership {
  /** Resolves once the signal was aborted and the lease is given up, or could not be within a second; never rejects. */
  readonly closed: Promise<void>;
}

/**
 * Takes part in the election of a leader over a Lease, as client-go does: the lease is taken where nobody holds it,
 * or where it has not changed for its own duration by our clock.
 * @throws RangeError when the times contradict each other
 */
export function createElector(options: ElectorOptions): Elector {
  const { client, namespace, name, signal, clocks = systemClocks } = options;
  const times = electorTimes(options);
  const identity = `${options.identity}_${randomBytes(4).toString('hex')}`;
  const log = options.log.child({ lease: `${namespace}/${name}`, identity });
  const term = createTerm(times.renewMs, clocks, log);
  const observation = observeLease(clocks.monotonic);
  const store = createLeaseStore(client, namespace, name);
  const { takeOver } = options;
  const candidate = new Candidate({ store, observation, term, times, identity, takeOver, log });
  const backoff = createBackoff({ initialMs: times.retryMs, maxMs: times.leaseMs });

  const attempt = async (): Promise<number> => {
    try {
      await candidate.attempt(signal);
      backoff.reset();
      return jittered(times.retryMs);
    } catch (error) {
      if (signal.aborted) return 0;
      const delayMs = term.leading ? jittered(times.retryMs) : backoff.next();
      log.warn('leader.attempt.failed', { ...describeError(error), retryInMs: Math.round(delayMs) });
      return delayMs;
    }
  };
  const run = async () => {
    while (!signal.aborted) await sleep(await attempt(), signal).catch(() => {});
    await candidate.giveUp();
  };
  // at once, whatever is under way
  signal.addEventListener('abort', () => term.end('this replica ends'), { once: true });
  const closed = run();
  return {
    get leading() {
      return term.leading;
    },
    onChange: term.onChange,
    closed,
  };
}

/** Up to a fifth longer, so that replicas do not ask in step. */
const jittered = (milliseconds: number): number => milliseconds * (1 + Math.random() / 5);
