import type { LoggerOptions, LogLevel } from './create-logger.ts';
import { formatted } from './format-sink.ts';
import type { LogFields, Logger } from './logger.ts';
import { redactFields } from './redact-fields.ts';
import { secrets } from './secrets.ts';
import { descriptorSink, type Sink } from './stderr-sink.ts';

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** The logger of `createLogger`, line for line, without pino: for where each millisecond of the start counts. */
export function createLeanLogger(options: LoggerOptions): Logger {
  const registry = options.secrets ?? secrets;
  const sink = formatted(options.sink ?? descriptorSink(2), options.format ?? 'json');
  const redacting = { write: (line: string) => sink.write(registry.redact(line)) };
  const least = levels.indexOf(options.level ?? 'info');
  return loggerWith(membersOf({ component: options.component }), least, redacting);
}

function loggerWith(bound: string, least: number, sink: Sink): Logger {
  const write = (level: LogLevel) => {
    if (levels.indexOf(level) < least) return () => {};
    return (event: string, fields: LogFields = {}) => {
      const head = `{"level":"${level}","time":"${new Date().toISOString()}"`;
      sink.write(`${head}${bound}${membersOf({ event, ...redactFields(fields) })}}\n`);
    };
  };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (fields) => loggerWith(bound + membersOf(redactFields(fields)), least, sink),
  };
}

/** `,"name":value` for each field that is not undefined. */
function membersOf(fields: LogFields): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`)
    .join('');
}
