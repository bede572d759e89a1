import { fullMessageOf, SvcError } from '../../../core/errors.ts';
import { createBackoff } from '../../../runtime/lifecycle/backoff.ts';
import { sleep } from '../../../runtime/lifecycle/sleep.ts';
import { describeError } from '../../../runtime/logging/describe-error.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { createCollector } from '../../../runtime/memory/collect-garbage.ts';
import type { Observation } from '../observe/observation.ts';
import type { Rotation } from './rotation.ts';
import type { TokenKeeper } from './token-keeper.ts';

export interface KeepOptions {
  readonly tokens: TokenKeeper;
  /** Undefined under SVC_ROTATION=none. */
  readonly rotation: Rotation | undefined;
  /** Milliseconds. */
  readonly renewalInterval: number;
  readonly observation: Observation;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

const collectEveryMs = 30_000;

const conditions = { token: 'token', secrets: 'secrets' } as const;

/**
 * At every beat keeps the token alive and passes changed secrets on, until the signal is aborted. Whatever fails,
 * the application goes on with what it has; health and metrics tell.
 */
export function keep(options: KeepOptions): Promise<void> {
  const { tokens, renewalInterval, observation, log, signal } = options;
  const collect = createCollector(collectEveryMs);
  return beat({
    work: () => work(options).finally(collect),
    delayMs: () => tokens.delayMs(renewalInterval),
    longestRetryMs: () => tokens.longestRetryMs(),
    onFailure: (error, retryMs) => {
      observation.degraded.set(1);
      log.warn('secrets.keep.failed', {
        ...describeError(error),
        error: fullMessageOf(error),
        nextStep: error instanceof SvcError ? error.nextStep : undefined,
        retry_ms: Math.round(retryMs),
      });
    },
    signal,
  });
}

async function work(options: KeepOptions): Promise<void> {
  const { rotation, observation, signal } = options;
  await telling(observation, conditions.token, () => tend(options));
  await telling(observation, conditions.secrets, async () => rotation?.look(signal));
  const { degraded } = observation.health.snapshot();
  observation.degraded.set(Object.values(conditions).some((name) => degraded[name] !== undefined) ? 1 : 0);
}

/** @returns why the token ends although its server answers, or undefined */
async function tend({ tokens, observation, log, signal }: KeepOptions): Promise<string | undefined> {
  const event = await tokens.tend(signal).catch((error) => {
    observation.renewals.inc({ result: 'failed' });
    throw error;
  });
  observation.renewals.inc({ result: event });
  if (event !== 'kept') observation.lastRenewal.set(Math.round(Date.now() / 1000));
  log.debug('token.kept', { result: event });
  return tokens.fading;
}

/**
 * The reason goes into the body of /healthz, whose 200 stays: a probe must not kill the application for it. What the work
 * returns is one as well: a refusal that lasts.
 */
async function telling(
  { health }: Observation,
  condition: string,
  work: () => Promise<string | undefined>,
): Promise<void> {
  const reason = await work().catch((error) => {
    health.degraded(condition, fullMessageOf(error));
    throw error;
  });
  if (reason === undefined) health.recovered(condition);
  else health.degraded(condition, reason);
}

export interface BeatOptions {
  /** What is done at each beat. */
  readonly work: () => Promise<void>;
  /** Time to the next beat after one that succeeded, in ms. */
  readonly delayMs: () => number;
  /** No retry comes later than this, in ms. */
  readonly longestRetryMs?: () => number;
  /** Told of each beat that failed; it never ends the loop. */
  readonly onFailure: (error: unknown, retryMs: number) => void;
  readonly signal: AbortSignal;
}

/** Slow enough that a key server which refuses for a minute hears of us a few times only. */
const backoff = { initialMs: 8_000, maxMs: 60_000 };
const shortestRetryMs = 5_000;

/** Works at every beat until the signal is aborted; after a failure at growing, jittered intervals. */
export async function beat(options: BeatOptions): Promise<void> {
  const { work, delayMs, longestRetryMs = () => Number.POSITIVE_INFINITY, onFailure, signal } = options;
  const failures = createBackoff(backoff);
  let wait = delayMs();
  while (await slept(wait, signal)) {
    try {
      await work();
      failures.reset();
      wait = delayMs();
    } catch (error) {
      if (signal.aborted) return;
      wait = Math.min(longestRetryMs(), Math.max(shortestRetryMs, failures.next()));
      onFailure(error, wait);
    }
  }
}

async function slept(ms: number, signal: AbortSignal): Promise<boolean> {
  return sleep(ms, signal).then(
    () => true,
    () => false,
  );
}
