import { constants } from 'node:os';
import { exitStatus } from '../errors.ts';
import { createMetrics } from '../health/create-metrics.ts';
import { createHealth } from '../health/health.ts';
import { startHealthServer } from '../health/health-server.ts';
import type { HealthServer } from '../health/lean-health-server.ts';
import { createLogger, type LogFormat } from '../logging/create-logger.ts';
import { describeError, type Logger, reportFailure, stackOf } from '../logging/logger.ts';
import type { Settings } from '../settings/setting.ts';
import { formatDuration } from '../units.ts';
import type { Component, ComponentDeps, Running } from './contract.ts';
import { svcVersion } from './package-folder.ts';
import { type RunConfig, type RunOptions, readConfig } from './read-config.ts';

/**
 * Runs a component: settings, logger, health server, start, orderly shutdown. Logs every failure. Resolves with the
 * exit status: 0 after a drain, an SvcError's own, 70 for a defect, 1 if the drain took too long, 128+n after a second
 * signal. The caller must then exit, because handles that a component left open would keep the process alive.
 */
export async function runComponent<S extends Settings>(
  component: Component<S>,
  options: RunOptions,
): Promise<number> {
  surviveLostOutput();
  let log = createLogger({ component: component.name, format: earlyFormat(options) });
  const stopWatching = endOnCrash(() => log);
  try {
    const config = await readConfig(component, options);
    log = configuredLogger(component, config);
    return await serve(component, config, log, options.env);
  } catch (error) {
    return reportFailure(log, 'start.failed', error);
  } finally {
    stopWatching();
  }
}

function configuredLogger<S extends Settings>(component: Component<S>, { common }: RunConfig<S>): Logger {
  const format = common.logFormat ?? formatForOutput();
  return createLogger({ component: component.name, level: common.logLevel, format });
}

/** Log format for reporting errors in the settings themselves. */
function earlyFormat({ flags, env }: RunOptions): LogFormat {
  const wanted = flags?.['log-format'] ?? env['SVC_LOG_FORMAT'];
  return wanted === 'json' || wanted === 'text' ? wanted : formatForOutput();
}

function formatForOutput(): LogFormat {
  return process.stderr.isTTY ? 'text' : 'json';
}

interface ComponentEnvironment {
  readonly deps: ComponentDeps;
  readonly version: string;
  readonly healthServer: HealthServer | undefined;
  /** Makes `/metrics` show the component's own metrics. */
  readonly exposeBy: (running: Running) => void;
}

/** Serves health, runs the component until it ends or is stopped, and resolves with the exit status. */
export async function serve<S extends Settings>(
  component: Component<S>,
  config: RunConfig<S>,
  log: Logger,
  env: ComponentDeps['env'],
): Promise<number> {
  const shutdown = watchShutdown(config.common.shutdownGrace, log);
  try {
    const around = await surround(component.name, config, log, env);
    shutdown.signal.addEventListener('abort', () => around.deps.health.notReady('shutdown', 'shutting down'));
    try {
      return await Promise.race([live(component, config, around, shutdown), shutdown.cutShort]);
    } finally {
      await around.healthServer?.close();
    }
  } finally {
    shutdown.stopWatching();
  }
}

async function surround(
  name: string,
  { healthAddress }: RunConfig<Settings>,
  log: Logger,
  env: ComponentDeps['env'],
): Promise<ComponentEnvironment> {
  const version = svcVersion();
  const health = createHealth();
  const metrics = await createMetrics({ version, component: name });
  health.notReady('start', 'starting');
  let expose = metrics.expose;
  const source = { snapshot: health.snapshot, expose: () => expose() };
  const healthServer =
    healthAddress === undefined ? undefined : await startHealthServer(healthAddress, source);
  const exposeBy = (running: Running) => {
    expose = running.expose?.bind(running) ?? expose;
  };
  return { deps: { log, health, metrics, env }, version, healthServer, exposeBy };
}

/** Runs the component from start to end; resolves with the exit status. */
async function live<S extends Settings>(
  component: Component<S>,
  { own }: RunConfig<S>,
  { deps, version, healthServer, exposeBy }: ComponentEnvironment,
  { signal }: Shutdown,
): Promise<number> {
  let event = 'start.failed';
  try {
    const running = await component.start(own, deps, signal);
    event = 'run.failed';
    exposeBy(running);
    deps.health.ready('start');
    deps.log.info('listening', { ...running.facts, health: healthServer?.address, version });
    await running.closed;
  } catch (error) {
    if (!isAbort(error, signal)) return reportFailure(deps.log, event, error);
  }
  deps.log.info('stopped');
  return 0;
}

/** A start that its signal aborted has not failed. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  return (
    signal.aborted && (error === signal.reason || (error instanceof Error && error.name === 'AbortError'))
  );
}

export interface Shutdown {
  /** Aborted by the first SIGTERM or SIGINT. */
  readonly signal: AbortSignal;
  /** Resolves with an exit status when the drain must not continue: after the time limit or a second signal. */
  readonly cutShort: Promise<number>;
  stopWatching(): void;
}

type StopSignal = 'SIGTERM' | 'SIGINT';

/** Turns signals into one orderly shutdown with a time limit. Ignores SIGHUP. */
export function watchShutdown(graceMs: number, log: Logger): Shutdown {
  const controller = new AbortController();
  const cutShort = Promise.withResolvers<number>();
  let timer: NodeJS.Timeout | undefined;
  const onSignal = (name: StopSignal) => {
    if (controller.signal.aborted) {
      log.warn('shutdown.forced', { signal: name });
      return cutShort.resolve(128 + constants.signals[name]);
    }
    log.info('shutdown.begin', { signal: name, grace: formatDuration(graceMs) });
    timer = setTimeout(() => {
      log.error('shutdown.overdue', { grace: formatDuration(graceMs) });
      cutShort.resolve(exitStatus.failure);
    }, graceMs);
    controller.abort();
  };
  const forget = listen(onSignal);
  const stopWatching = () => {
    clearTimeout(timer);
    forget();
  };
  return { signal: controller.signal, cutShort: cutShort.promise, stopWatching };
}

function listen(onSignal: (name: StopSignal) => void): () => void {
  const ignore = () => {};
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal).on('SIGHUP', ignore);
  return () => void process.off('SIGTERM', onSignal).off('SIGINT', onSignal).off('SIGHUP', ignore);
}

/**
 * Ends the process with status 70 on an unhandled exception or rejection, after which its state is undefined.
 * @returns a function that stops watching
 */
export function endOnCrash(log: () => Logger): () => void {
  const crash = (error: unknown, origin: string) => {
    log().error('crashed', { origin, ...describeError(error), stack: stackOf(error) });
    process.exit(exitStatus.internal);
  };
  process.on('uncaughtException', crash);
  return () => void process.off('uncaughtException', crash);
}

/** A service must survive when the reader of its output closes. */
export function surviveLostOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}
