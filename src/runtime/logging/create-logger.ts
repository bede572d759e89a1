import type { Logger as Pino } from 'pino';
import {
  descriptorSink,
  formatted,
  type LogFormat,
  type LoggerOptions,
  type LogLevel,
} from './lean-logger.ts';
import type { LogFields, Logger } from './logger.ts';
import { redactFields, secrets } from './secrets.ts';

export type { LogFormat, LoggerOptions, LogLevel };

/** A logger that writes each line at once; every line passes the redaction of registered secrets. */
export async function createLogger(options: LoggerOptions): Promise<Logger> {
  const { default: pino } = await import('pino');
  const registry = options.secrets ?? secrets;
  const root = pino(
    {
      level: options.level ?? 'info',
      base: { component: options.component },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      hooks: { streamWrite: (line) => registry.redact(line) },
    },
    formatted(options.sink ?? descriptorSink(2), options.format ?? 'json'),
  );
  return behindOurInterface(root);
}

function behindOurInterface(target: Pino): Logger {
  const write =
    (level: LogLevel) =>
    (event: string, fields: LogFields = {}) =>
      target[level]({ event, ...redactFields(fields) });
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => behindOurInterface(target.child(redactFields(fields))),
  };
}
