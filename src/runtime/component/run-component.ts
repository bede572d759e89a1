import type { Settings } from '../../core/settings/setting.ts';
import { endOnCrash, surviveLostOutput } from '../lifecycle/crash.ts';
import { createLogger, type LogFormat } from '../logging/create-logger.ts';
import type { Logger } from '../logging/logger.ts';
import type { Component } from './contract.ts';
import { type RunConfig, type RunOptions, readConfig } from './read-config.ts';
import { reportFailure } from './report-failure.ts';
import { serve } from './serve.ts';

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
