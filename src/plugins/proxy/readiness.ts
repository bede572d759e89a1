import { timingSafeEqual } from 'node:crypto';
import { isVaultError } from '../../keyserver/contract.ts';
import { KeyServerHangs } from '../../keyserver/hang-guard.ts';
import type { DataKeys } from '../../objects/keys/data-keys.ts';
import { S3Error } from '../../objects/s3/error.ts';
import {
  createUpstream,
  type UpstreamConfig,
  type UpstreamParts,
} from '../../objects/upstream/s3-upstream.ts';
import { reasonOf, refusal } from '../../objects/upstream/upstream.ts';
import { certificateErrorCode } from '../../runtime/errors.ts';
import type { Health } from '../../runtime/health/health.ts';
import {
  type Backoff,
  createBackoff,
  type Periodic,
  startPeriodic,
  within,
} from '../../runtime/lifecycle/wait.ts';
import { describeError, type Logger } from '../../runtime/logging/logger.ts';
import type { ProxyConfig } from './config.ts';

/** A condition for serving any request, tested by doing it. */
export interface ReadinessCheck {
  /** Name in `/readyz`. */
  readonly condition: string;
  /** Resolves if the condition holds; settles soon after `signal` is aborted. */
  run(signal: AbortSignal): Promise<unknown>;
  /** Explains a failure of `run`. */
  explain(error: unknown): Failing;
}

/** Contains no secrets: both texts are shown to whoever can reach `/readyz` or the log. */
export interface Failing {
  readonly reason: string;
  readonly nextStep?: string | undefined;
  /** An early retry would be useless or harmful. */
  readonly lasting?: boolean;
  /** A retry is harmless, and shows at once when the failure is over. */
  readonly passing?: boolean;
}

/** Milliseconds. */
export interface CheckTimings {
  /** Approximate time between runs while the condition holds, and the maximum while it does not. */
  readonly everyMs: number;
  /** Approximate time until the retry of a first failure. */
  readonly againMs: number;
  /** A run that takes longer counts as failed. */
  readonly timeoutMs: number;
}

export type Conditions = Pick<Health, 'ready' | 'notReady'>;

export interface WatchOptions {
  readonly conditions: Conditions;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly timings?: CheckTimings;
}

const usual: CheckTimings = { everyMs: 30_000, againMs: 1_000, timeoutMs: 10_000 };
/** Jitter, so that proxies started together do not keep asking together. */
const spread = 0.15;

/** Runs each check at once and repeatedly until the signal is aborted; runs of one check do not overlap. */
export function watchReadiness(checks: readonly ReadinessCheck[], options: WatchOptions): ReadinessWatch {
  const watches = new Map(checks.map((check) => [check.condition, new Watch(check, options)]));
  return {
    hurry() {
      for (const watch of watches.values()) watch.hurry();
    },
    fails: (condition, failing) => watches.get(condition)?.fails(failing),
  };
}

export interface ReadinessWatch {
  /** Retries the checks of unmet conditions now. */
  hurry(): void;
  /** Reports that a condition was found unmet; its check finds out when it holds again. */
  fails(condition: string, failing: Failing): void;
}

class Watch {
  readonly #check: ReadinessCheck;
  readonly #options: WatchOptions;
  readonly #timings: CheckTimings;
  readonly #backoff: Backoff;
  readonly #attempts: Periodic;
  #state: 'untried' | 'met' | 'doubted' | 'unmet' = 'untried';
  #told = '';
  #hurried = false;
  #isTrying = false;

  constructor(check: ReadinessCheck, options: WatchOptions) {
    this.#check = check;
    this.#options = options;
    this.#timings = options.timings ?? usual;
    this.#backoff = createBackoff({ initialMs: this.#timings.againMs, maxMs: this.#timings.everyMs });
    options.conditions.notReady(check.condition, 'not tried yet');
    this.#attempts = startPeriodic({ pass: () => this.#pass(), signal: options.signal });
  }

  /** A running attempt may succeed, so the next one begins at once only if it fails. */
  hurry(): void {
    if (this.#state === 'met') return;
    this.#hurried = true;
    if (!this.#isTrying) this.#attempts.wake();
  }

  fails(failing: Failing): void {
    this.#lost(failing);
    this.hurry();
  }

  async #pass(): Promise<number> {
    this.#hurried = false;
    this.#isTrying = true;
    const failing = await this.#attempt();
    this.#isTrying = false;
    if (this.#options.signal.aborted) return 0;
    const pause = failing === undefined ? this.#met() : this.#failed(failing);
    return this.#hurried && failing !== undefined ? 0 : pause;
  }

  async #attempt(): Promise<Failing | undefined> {
    const { timeoutMs } = this.#timings;
    const ended = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, ended.signal]);
    const late = () => new Error(`no answer within ${timeoutMs / 1000} s`);
    try {
      await within(this.#check.run(signal), performance.now() + timeoutMs, this.#options.signal, late);
      return undefined;
    } catch (error) {
      return this.#check.explain(error);
    } finally {
      ended.abort();
    }
  }

  #met(): number {
    const { conditions, log } = this.#options;
    const { condition } = this.#check;
    if (this.#state === 'unmet') log.info('proxy.readiness.regained', { condition });
    this.#state = 'met';
    this.#told = '';
    this.#backoff.reset();
    conditions.ready(condition);
    return this.#untilNext();
  }

  /** A single failure of a met condition may be transient; callers see it in their own requests. */
  #failed(failing: Failing): number {
    const again = this.#backoff.next();
    if (this.#state === 'met') {
      this.#state = 'doubted';
      return again;
    }
    this.#lost(failing);
    if (failing.passing) return this.#timings.againMs / 2;
    return failing.lasting ? this.#untilNext() : again;
  }

  #lost({ reason, nextStep }: Failing): void {
    const { conditions, log } = this.#options;
    const { condition } = this.#check;
    this.#state = 'unmet';
    conditions.notReady(condition, reason);
    if (reason !== this.#told) log.warn('proxy.readiness.lost', { condition, error: reason, nextStep });
    this.#told = reason;
  }

  #untilNext(): number {
    return this.#timings.everyMs * (1 - spread + 2 * spread * Math.random());
  }
}

/**
 * Tests that keys can be wrapped and unwrapped like those of objects: a fresh key makes a round trip, bound to a name
 * that no caller's object has. It never encrypts anything.
 */
export function keyCheck(
  keys: DataKeys,
  { reservedPrefix }: Pick<ProxyConfig, 'reservedPrefix'>,
): ReadinessCheck {
  const name = { bucket: 'ready', key: `${reservedPrefix}ready` };
  return {
    condition: 'keys',
    run: (signal) => thereAndBack(keys, name, signal),
    explain: whyUnusable,
  };
}

/** What a key server failure means for the `keys` condition. */
export function whyUnusable(error: unknown): Failing {
  if (!isVaultError(error)) return { reason: describeError(error).error };
  const { message: reason, nextStep, kind } = error;
  // each refusal makes the client log in again, which is limited to a few times a minute
  return { reason, nextStep, lasting: kind === 'denied', passing: error instanceof KeyServerHangs };
}

const purpose = { kind: 'object' } as const;

async function thereAndBack(
  keys: DataKeys,
  name: { readonly bucket: string; readonly key: string },
  signal: AbortSignal,
): Promise<void> {
  const [fresh] = await keys.create(name, [purpose], signal);
  if (fresh === undefined) throw new Error('no key was wrapped');
  try {
    const [back] = await keys.unwrap(name, keys.scheme, [{ wrapped: fresh.ciphertext, purpose }], signal);
    const same = back !== undefined && timingSafeEqual(back, fresh.key);
    back?.fill(0);
    if (!same) throw new Error('The key server unwraps to another key than it wrapped');
  } finally {
    fresh.key.fill(0);
  }
}

/** S3 reserves this prefix, so nobody can create the bucket and see these requests. */
const nobodysBucket = 'amzn-s3-demo-svc-ready';
const limits = { sockets: 1, connectMs: 4_000, idleMs: 4_000 };

export interface StoreCheckConfig extends UpstreamConfig {
  readonly stateBucket: string | undefined;
  readonly reservedPrefix: string;
}

/**
 * Tests that the store can be reached, its certificate is trusted, and it accepts the credentials, by a signed GET of a
 * missing object. It uses its own connection, so that each run verifies the certificate and none waits for callers. No
 * permission is needed: any answer counts, except one that rejects the credentials themselves.
 */
export function storeCheck(config: StoreCheckConfig, parts: Omit<UpstreamParts, 'limits'>): ReadinessCheck {
  const { stateBucket: bucket = nobodysBucket, reservedPrefix } = config;
  const request = { method: 'GET', bucket, key: `${reservedPrefix}ready` };
  return {
    condition: 'store',
    async run(signal) {
      await parts.credentials();
      const upstream = createUpstream(config, untold, { ...parts, limits });
      try {
        const { code } = await refusal(await upstream.send({ ...request, signal }).catch(unreached));
        if (wrongCredentials.has(code)) throw new Refused(code);
      } finally {
        upstream.close();
      }
    },
    explain,
  };
}

/** The watch logs failures, once and not on every run. */
const untold: Logger = { debug() {}, info() {}, warn() {}, error() {}, child: () => untold };

/** Without permission for the object the answer is AccessDenied, which proves that the credentials are known. */
const wrongCredentials: ReadonlySet<string> = new Set([
  'AuthorizationHeaderMalformed',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidToken',
  'RequestTimeTooSkewed',
  'SignatureDoesNotMatch',
]);

/** The store did not answer; the cause is the connection's error. */
class Unreached extends Error {
  override readonly name = 'Unreached';
}

function unreached(error: unknown): never {
  if (!(error instanceof S3Error) || error.code !== 'ServiceUnavailable') throw error;
  throw new Unreached(error.message, { cause: error.cause });
}

class Refused extends Error {
  override readonly name = 'Refused';

  constructor(code: string) {
    super(`The object store refuses the proxy's own credentials (${code})`);
  }
}

function explain(error: unknown): Failing {
  const certificate = certificateErrorCode(error);
  if (certificate !== undefined) {
    const reason = `The certificate of the object store is not trusted (${certificate})`;
    return { reason, nextStep: 'Set its CA, as a PEM file, in AWS_CA_BUNDLE.' };
  }
  if (error instanceof Unreached) {
    const reason = `The object store cannot be reached (${reasonOf(error.cause)})`;
    return { reason, nextStep: 'Check --upstream, the name service and the egress policy.' };
  }
  if (error instanceof Refused) {
    const nextStep = "Check the proxy's AWS_* variables or its role, AWS_REGION and the clock.";
    return { reason: error.message, nextStep };
  }
  return { reason: describeError(error).error };
}
