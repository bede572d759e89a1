import { retryAfterOf } from '../../keyserver/contract.ts';
import type { SecretClient, SecretDocument } from '../../keyserver/secret-client/contract.ts';
import type { TokenKeeper } from '../../keyserver/token-keeper.ts';
import { fullMessageOf, SvcError } from '../../runtime/errors.ts';
import {
  type Backoff,
  createBackoff,
  type RepeatedOptions,
  startRepeated,
} from '../../runtime/lifecycle/wait.ts';
import { describeError, type Logger } from '../../runtime/logging/logger.ts';
import { createCollector } from '../../runtime/memory.ts';
import { encodedLength } from '../../runtime/protocols/secret-records/region-writer.ts';
import { type Delivered, nameSecrets } from './name-secrets.ts';
import type { Observation } from './observation.ts';
import { readAll, releaseAll, valuesIn } from './obtain.ts';
import type { PreparedApplication } from './prepare-application.ts';
import type { ResolvedWrapperSettings } from './settings.ts';

export interface KeepOptions {
  readonly tokens: TokenKeeper;
  /** Undefined with SVC_ROTATION=none. */
  readonly rotation: Rotation | undefined;
  /** Milliseconds. */
  readonly renewalInterval: number;
  readonly observation: Observation;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Called after each pass, once health and metrics show its result; must not throw. */
  readonly onPass: () => void;
}

const collectEveryMs = 30_000;

const conditions = { token: 'token', secrets: 'secrets' } as const;

/**
 * Periodically prolongs the token and passes changed secrets on, until the signal is aborted. On any failure the
 * application keeps its secrets, and health and metrics report the failure.
 */
export function keep(options: KeepOptions): Promise<void> {
  const { tokens, renewalInterval, signal, onPass } = options;
  const collect = createCollector(collectEveryMs);
  return repeatWork({
    work: () => keepOnce(options).finally(collect).then(onPass),
    delayMs: () => tokens.delayMs(renewalInterval),
    longestRetryMs: () => tokens.longestRetryMs(),
    onFailure: (error, retryMs) => {
      reportKeepFailure(options, error, retryMs);
      onPass();
    },
    signal,
  });
}

/** Reports a failed pass to log, health and metrics. */
export function reportKeepFailure(
  { observation, log }: Pick<KeepOptions, 'observation' | 'log'>,
  error: unknown,
  retryMs: number,
): void {
  observation.degraded.set(1);
  log.warn('secrets.keep.failed', {
    ...describeError(error),
    error: fullMessageOf(error),
    nextStep: error instanceof SvcError ? error.nextStep : undefined,
    retry_ms: Math.round(retryMs),
  });
}

type PassOptions = Omit<KeepOptions, 'renewalInterval' | 'onPass'>;

/** One pass. @throws the first failure, already shown by health; the application keeps its secrets */
export async function keepOnce(options: PassOptions): Promise<void> {
  const { rotation, observation, signal } = options;
  await telling(observation, conditions.token, () => tend(options));
  await telling(observation, conditions.secrets, async () => rotation?.look(signal));
  const { degraded } = observation.health.snapshot();
  observation.degraded.set(Object.values(conditions).some((name) => degraded[name] !== undefined) ? 1 : 0);
}

/** @returns why the token will end although its server answers; undefined if it will not */
async function tend({ tokens, observation, log, signal }: PassOptions): Promise<string | undefined> {
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
 * Shows a failure, or the reason that the work returns for a lasting refusal, in the body of /healthz. Its status stays
 * 200: a probe must not kill the application for this.
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

/** Slow enough that a secrets server that refuses for a minute gets only a few requests. */
const backoff = { initialMs: 8_000, maxMs: 60_000 };
const shortestRetryMs = 5_000;

/** Repeats the work until the signal is aborted; after a failure at growing, jittered intervals. */
export async function repeatWork({ longestRetryMs, ...options }: RetriedOptions): Promise<void> {
  await startRepeated({
    ...{ ...options, backoff: retryPauses(longestRetryMs), leastMs: retryAfterOf },
    firstMs: options.delayMs(),
  }).closed;
}

/** After so many failures the pause has reached its maximum. */
const mostFailures = 10;

/** Pauses between failures, in ms. @param failures how many there have been in a row */
export function retryPauses(longestMs = () => Number.POSITIVE_INFINITY, failures = 0): Backoff {
  const { next, reset } = createBackoff(backoff);
  for (let count = 0; count < Math.min(failures, mostFailures); count++) next();
  return { next: () => Math.min(longestMs(), Math.max(shortestRetryMs, next())), reset };
}

type Settings = Pick<
  ResolvedWrapperSettings,
  'secretPaths' | 'envMap' | 'envMapOnly' | 'rotation' | 'delivery'
>;

export interface RotationOptions {
  readonly client: Pick<SecretClient, 'read'>;
  readonly settings: Settings;
  readonly application: RotatedApplication;
  /** Wipes copies of these values that reading left outside of protected memory. */
  readonly scrub: (values: readonly Buffer[]) => void;
  readonly prepare: (delivered: readonly Delivered[]) => PreparedApplication;
  readonly digest: (delivered: readonly Delivered[]) => string;
  /** Digest of the secrets that the application was started with. */
  readonly inUse: string;
  /** Secrets that an earlier process could not pass on. */
  readonly refused?: RefusedSecrets | undefined;
  readonly observation: Observation;
  readonly log: Logger;
}

/** The running application, to which changed secrets are passed on. */
export interface RotatedApplication {
  /**
   * Stops it and starts it with new secrets.
   * @param digest of these secrets
   * @returns false if it must not run again, because it has exited by itself or its end was requested
   */
  restart(prepared: PreparedApplication, digest: string): Promise<boolean>;
  /** Renews the shared records in place and sends SIGHUP. @returns false if the region is too small */
  renew(delivered: readonly Delivered[]): boolean;
}

/** Secrets that do not fit into the application's descriptor. */
export interface RefusedSecrets {
  readonly digest: string;
  readonly reason: string;
}

/** Checks whether the secrets have changed, and passes changes on. A failed check changes nothing. */
export class Rotation {
  readonly #options: RotationOptions;
  #inUse: string;
  /** Secrets that could not be passed on: logged once, shown by health while they are the newest. */
  #refused: RefusedSecrets | undefined;

  constructor(options: RotationOptions) {
    this.#options = options;
    this.#inUse = options.inUse;
    this.#refused = options.refused;
  }

  get inUse(): string {
    return this.#inUse;
  }

  get refused(): RefusedSecrets | undefined {
    return this.#refused;
  }

  /**
   * @returns why changed secrets are not passed on; undefined if all are
   * @throws VaultError if a path cannot be read, SvcError SECRETS_UNUSABLE if the new secrets cannot be delivered
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
    const { settings, application, prepare } = this.#options;
    if (settings.rotation === 'restart') {
      if (await application.restart(prepare(delivered), seen)) this.#passed(delivered, seen);
    } else if (application.renew(delivered)) this.#passed(delivered, seen);
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
