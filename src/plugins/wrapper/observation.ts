import { isatty } from 'node:tty';
import { svcVersion } from '../../runtime/component/package-folder.ts';
import {
  type Counter,
  createHealth,
  type Gauge,
  type Health,
  type HealthFact,
  type Metrics,
} from '../../runtime/health/health.ts';
import type { HealthSource } from '../../runtime/health/lean-health-server.ts';
import { createLeanMetrics } from '../../runtime/health/plain-metrics.ts';
import {
  createLogger,
  descriptorSink,
  type LogFormat,
  type Sink,
} from '../../runtime/logging/create-logger.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { canWrite } from '../../runtime/native/sockets.ts';
import type { ResolvedWrapperSettings } from './settings.ts';

/** What probes and Prometheus see of a wrapper. */
export interface Observation extends HealthSource {
  readonly health: Health;
  readonly metrics: Metrics;
  /** By `result`: `renewed`, `logged-in`, `kept`, `failed`. */
  readonly renewals: Counter;
  /** By `kind` (restart, sighup) and `result` (`done`, `refused`). */
  readonly rotations: Counter;
  readonly looks: Counter;
  readonly starts: Counter;
  /** By `result`: `ended`, `failed`. svc-init counts them; 0 for a wrapper that stays. */
  readonly workers: Counter;
  readonly up: Gauge;
  readonly secrets: Gauge;
  readonly lastRenewal: Gauge;
  readonly degraded: Gauge;
  readonly lockedBytes: Gauge;
  readonly unlockedBytes: Gauge;
  readonly agentTier: Gauge;
  readonly agentEnforcing: Gauge;
  /**
   * Calls `secondsLeft` at each scrape and probe from now on: Infinity for a token without an end, undefined if its end
   * is unknown.
   */
  watchToken(secondsLeft: () => number | undefined): void;
}

/** @param metrics registry for the wrapper's metrics */
export function createObservation(metrics: Metrics = createLeanMetrics()): Observation {
  const health = createHealth();
  health.notAlive('secrets', 'not fetched yet');
  health.notReady('application', 'not started yet');
  metrics
    .gauge('svc_build_info', 'Version of svc that runs, as labels; always 1', [
      'version',
      'component',
      'node',
    ])
    .set(1, { version: svcVersion(), component: 'wrapper', node: process.version });
  const counter = (name: string, help: string, ...labels: string[]) =>
    metrics.counter(`svc_wrapper_${name}`, help, labels);
  const gauge = (name: string, help: string) => metrics.gauge(`svc_wrapper_${name}`, help);
  const tokenTime = gauge(
    'token_seconds_left',
    'Seconds until the token expires; absent if it never expires or if this is unknown',
  );
  tokenTime.remove({});
  let secondsLeft: (() => number | undefined) | undefined;
  return {
    health,
    metrics,
    watchToken: (ask) => {
      secondsLeft = ask;
    },
    snapshot: () => {
      if (secondsLeft !== undefined) health.fact('token_seconds_left', factOf(secondsLeft()));
      return health.snapshot();
    },
    expose: () => {
      const left = secondsLeft?.();
      if (Number.isFinite(left)) tokenTime.set(Math.floor(left as number));
      else tokenTime.remove({});
      return metrics.expose();
    },
    renewals: counter('token_renewals_total', 'Attempts to keep the token alive', 'result'),
    rotations: counter(
      'rotations_total',
      'Changed secrets that were passed on, or could not be',
      'kind',
      'result',
    ),
    looks: counter('secret_checks_total', 'Comparisons of the secrets with those in use', 'result'),
    starts: counter('application_starts_total', 'Starts of the application'),
    workers: counter(
      'workers_total',
      'Renewal processes that ended, where the wrapper does not stay',
      'result',
    ),
    up: gauge('application_up', '1 while the application runs'),
    secrets: gauge('secrets', 'Secrets that the application has'),
    lastRenewal: gauge('last_renewal_timestamp_seconds', 'When the token was last renewed or replaced'),
    degraded: gauge('degraded', '1 while token or secrets cannot be kept fresh, whatever the cause'),
    lockedBytes: gauge('locked_bytes', 'Own writable memory that cannot be swapped'),
    unlockedBytes: gauge('unlocked_bytes', 'Own writable memory that can be swapped'),
    agentTier: gauge('agent_tier', 'Tier of the node agent; 0 without one'),
    agentEnforcing: gauge('agent_enforcing', '1 while the node agent denies reads of the application'),
  };
}

function factOf(secondsLeft: number | undefined): HealthFact {
  if (secondsLeft === undefined) return 'unknown';
  return Number.isFinite(secondsLeft) ? Math.floor(secondsLeft) : 'no end';
}

type Env = Readonly<Record<string, string | undefined>>;

const component = 'wrapper';
const standardError = 2;

/** For log lines before the settings are known, such as errors in them. */
export function earlyLogger(env: Env): Logger {
  const wanted = env['SVC_LOG_FORMAT'];
  const format = wanted === 'json' || wanted === 'text' ? wanted : formatForOutput();
  return createLogger({ component, format, sink: standardErrorSink() });
}

export function configuredLogger({ logLevel, logFormat }: ResolvedWrapperSettings): Logger {
  const format = logFormat ?? formatForOutput();
  return createLogger({ component, level: logLevel, format, sink: standardErrorSink() });
}

function formatForOutput(): LogFormat {
  return isatty(standardError) ? 'text' : 'json';
}

/**
 * The application shares the log's descriptor, which therefore blocks. Unless writability is checked first, a write to
 * a pipe that nobody reads would never return, and signals would no longer reach the application.
 */
function standardErrorSink(): Sink {
  return descriptorSink(standardError, { ready: canWrite });
}
