import { fullMessageOf, SvcError } from '../../core/errors.ts';
import { encodedLength } from '../../core/secret-records/region-writer.ts';
import { createBackoff, type RepeatedOptions, startRepeated } from '../../runtime/lifecycle/retry.ts';
import { describeError, type Logger } from '../../runtime/logging/logger.ts';
import { createCollector } from '../../runtime/memory.ts';
import type { SecretClient, SecretDocument } from '../../runtime/vault/secret-client/contract.ts';
import { type Delivered, nameSecrets } from './name-secrets.ts';
import type { Observation } from './observation.ts';
import { readAll, releaseAll, valuesIn } from './obtain.ts';
import type { PreparedApplication } from './prepare-application.ts';
import type { Runner } from './runner.ts';
import type { ResolvedWrapperSettings } from './settings.ts';
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
 * Periodically prolongs the token and passes changed secrets on, until the signal is aborted. Whatever fails, the
 * application keeps what it has, and health and metrics report the failure.
 */
export function keep(options: KeepOptions): Promise<void> {
  const { tokens, renewalInterval, observation, log, signal } = options;
  const collect = createCollector(collectEveryMs);
  return repeatWork({
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

export interface RetriedOptions extends Pick<RepeatedOptions, 'work' | 'delayMs' | 'onFailure' | 'signal'> {
  /** No retry comes later than this, in ms. */
  readonly longestRetryMs?: () => number;
}

/** Slow enough that a secrets server which refuses for a minute gets a few requests only. */
const backoff = { initialMs: 8_000, maxMs: 60_000 };
const shortestRetryMs = 5_000;

/** Repeats the work until the signal is aborted; after a failure at growing, jittered intervals. */
export async function repeatWork({ longestRetryMs, ...options }: RetriedOptions): Promise<void> {
  const { next, reset } = createBackoff(backoff);
  const longest = longestRetryMs ?? (() => Number.POSITIVE_INFINITY);
  const bounded = { next: () => Math.min(longest(), Math.max(shortestRetryMs, next())), reset };
  await startRepeated({ ...options, backoff: bounded, firstMs: options.delayMs() }).closed;
}

type Settings = Pick<
  ResolvedWrapperSettings,
  'secretPaths' | 'envMap' | 'envMapOnly' | 'rotation' | 'delivery'
>;

export interface RotationOptions {
  readonly client: Pick<SecretClient, 'read'>;
  readonly settings: Settings;
  readonly runner: Pick<Runner, 'restart' | 'renew'>;
  /** Wipes what reading has left of these values outside of protected memory. */
  readonly scrub: (values: readonly Buffer[]) => void;
  readonly prepare: (delivered: readonly Delivered[]) => PreparedApplication;
  readonly digest: (delivered: readonly Delivered[]) => string;
  /** Digest of the secrets that the application was started with. */
  readonly inUse: string;
  readonly observation: Observation;
  readonly log: Logger;
}

/** Looks whether the secrets have changed, and passes a change on. A look that fails changes nothing. */
export class Rotation {
  readonly #options: RotationOptions;
  #inUse: string;
  /** Secrets that could not be passed on: logged once, told for as long as they are the newest. */
  #refused: { readonly digest: string; readonly reason: string } | undefined;

  constructor(options: RotationOptions) {
    this.#options = options;
    this.#inUse = options.inUse;
  }

  /**
   * @returns why secrets that have changed are not passed on, for as long as that is so
   * @throws VaultError where a path cannot be read, SvcError SECRETS_UNUSABLE where the new secrets cannot be delivered
   */
  async look(signal: AbortSignal): Promise<string | undefined> {
    const { client, settings, digest, observation } = this.#options;
    const documents = await readAll(client, settings.secretPaths, signal);
    try {
      const delivered = nameSecrets(documents, settings);
      const seen = digest(delivered);
      observation.looks.inc({ result: seen === this.#inUse ? 'unchanged' : 'changed' });
      if (seen === this.#inUse) this.#refused = undefined;
      else if (seen !== this.#refused?.digest) await this.#pass(delivered, seen);
      return this.#refused?.reason;
    } finally {
      this.#wipe(documents);
    }
  }

  #wipe(documents: readonly SecretDocument[]): void {
    try {
      this.#options.scrub(valuesIn(documents));
    } finally {
      releaseAll(documents);
    }
  }

  async #pass(delivered: readonly Delivered[], seen: string): Promise<void> {
    const { settings, runner, prepare } = this.#options;
    if (settings.rotation === 'restart') {
      if (await runner.restart(prepare(delivered))) this.#passed(delivered, seen);
    } else if (runner.renew(delivered)) this.#passed(delivered, seen);
    else this.#refuse(delivered, seen);
  }

  #passed({ length }: readonly Delivered[], seen: string): void {
    const { settings, observation, log } = this.#options;
    const kind = settings.rotation;
    this.#inUse = seen;
    this.#refused = undefined;
    observation.rotations.inc({ kind, result: 'done' });
    observation.secrets.set(length);
    log.info('secrets.rotated', { kind, secrets: length });
  }

  #refuse(delivered: readonly Delivered[], seen: string): void {
    const { settings, observation, log } = this.#options;
    const reason = `the new secrets (${encodedLength(delivered)} bytes) do not fit into the descriptor that the application has: it keeps the old ones`;
    this.#refused = { digest: seen, reason };
    observation.rotations.inc({ kind: settings.rotation, result: 'refused' });
    log.error('secrets.rotation.refused', {
      error: reason,
      nextStep: 'Restart the application, or use SVC_ROTATION=restart.',
    });
  }
}
