import { fullMessageOf, SvcError } from '../../../core/errors.ts';
import { describeError } from '../../../runtime/logging/describe-error.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { createCollector } from '../../../runtime/memory/collect-garbage.ts';
import type { Observation } from '../observe/observation.ts';
import { beat } from './beat.ts';
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

async function work({ tokens, rotation, observation, log, signal }: KeepOptions): Promise<void> {
  const event = await telling(observation, conditions.token, () => tokens.tend(signal)).catch((error) => {
    observation.renewals.inc({ result: 'failed' });
    throw error;
  });
  observation.renewals.inc({ result: event });
  observation.lastRenewal.set(Math.round(Date.now() / 1000));
  log.debug('token.kept', { result: event });
  await telling(observation, conditions.secrets, async () => rotation?.look(signal));
  observation.degraded.set(0);
}

/** The reason goes into the body of /healthz, whose 200 stays: a probe must not kill the application for it. */
async function telling<T>({ health }: Observation, condition: string, work: () => Promise<T>): Promise<T> {
  try {
    const result = await work();
    health.recovered(condition);
    return result;
  } catch (error) {
    health.degraded(condition, fullMessageOf(error));
    throw error;
  }
}
