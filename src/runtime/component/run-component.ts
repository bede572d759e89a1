import type { Settings } from '../../core/settings/setting.ts';
import { createHealth } from '../health/create-health.ts';
import { createMetrics } from '../health/create-metrics.ts';
import { type HealthServer, startHealthServer } from '../health/health-server.ts';
import { endOnCrash, surviveLostOutput } from '../lifecycle/crash.ts';
import { type Shutdown, watchShutdown } from '../lifecycle/shutdown.ts';
import { createLogger, type LogFormat } from '../logging/create-logger.ts';
import type { Logger } from '../logging/logger.ts';
import type { Component, ComponentDeps, Running } from './contract.ts';
import { type RunConfig, type RunOptions, readConfig } from './read-config.ts';
import { reportFailure } from './report-failure.ts';
import { svcVersion } from './version.ts';

/**
 * Runs a component from its configuration to its end: settings, logger, health
 * server, start, orderly shutdown. Every failure is logged. Resolves with the exit
 * status: 0 after a drain, an SvcError's own, 70 for breakage, 1 when the drain took
 * too long, 128+n after a second signal. The caller exits with it, because what a
 * component left open would keep the process alive.
 */
export async function runComponent<S extends Settings>(
  component: Component<S>,
  options: RunOptions,
): Promise<number> {
  surviveLostOutput();
  let log = await createLogger({ component: component.name, format: earlyFormat(options) });
  const stopWatching = endOnCrash(() => log);
  try {
    const config = await readConfig(component, options);
    log = await configuredLogger(component, config);
    return await serve(component, config, log, options.env);
  } catch (error) {
    return reportFailure(log, 'start.failed', error);
  } finally {
    stopWatching();
  }
}

function configuredLogger<S extends Settings>(
  component: Component<S>,
  { common }: RunConfig<S>,
): Promise<Logger> {
  const format = common.logFormat ?? formatForOutput();
  return createLogger({ component: component.name, level: common.logLevel, format });
}

/** Before the settings are known, for the line that says what is wrong with them. */
function earlyFormat({ flags, env }: RunOptions): LogFormat {
  const wanted = flags?.['log-format'] ?? env['SVC_LOG_FORMAT'];
  return wanted === 'json' || wanted === 'text' ? wanted : formatForOutput();
}

function formatForOutput(): LogFormat {
  return process.stderr.isTTY ? 'text' : 'json';
}

interface Surroundings {
  readonly deps: ComponentDeps;
  readonly version: string;
  readonly healthServer: HealthServer | undefined;
  /** Makes `/metrics` show what the component gathers. */
  readonly exposeBy: (running: Running) => void;
}

/** Serves health, runs the component until it ends or is told to, and resolves with the exit status. */
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
): Promise<Surroundings> {
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

/** From start to end; resolves with the exit status. */
async function live<S extends Settings>(
  component: Component<S>,
  { own }: RunConfig<S>,
  { deps, version, healthServer, exposeBy }: Surroundings,
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

/** Giving up the start because one was told to is an orderly end. */
function isAbort(error: unknown, signal: AbortSignal): boolean {
  return (
    signal.aborted && (error === signal.reason || (error instanceof Error && error.name === 'AbortError'))
  );
}
