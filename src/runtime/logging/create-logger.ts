import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { painter, type Style } from '../cli/terminal.ts';
import type { LogFields, Logger } from './logger.ts';
import { redactFields, type SecretRegistry, secrets } from './secrets.ts';

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** A logger that writes each line at once, after redacting registered secrets. The lines are pino's, which costs more (ADR 12). */
export function createLogger(options: LoggerOptions): Logger {
  const registry = options.secrets ?? secrets;
  const sink = formatted(options.sink ?? descriptorSink(2), options.format ?? 'json');
  const redacting = { write: (line: string) => sink.write(registry.redact(line)) };
  const minLevel = levels.indexOf(options.level ?? 'info');
  return loggerWith(membersOf({ component: options.component }), minLevel, redacting);
}

function loggerWith(bound: string, minLevel: number, sink: Sink): Logger {
  const write = (level: LogLevel) => {
    if (levels.indexOf(level) < minLevel) return () => {};
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
    child: (fields) => loggerWith(bound + membersOf(redactFields(fields)), minLevel, sink),
  };
}

/** `,"name":value` for each defined field. */
function membersOf(fields: LogFields): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`)
    .join('');
}

export type LogFormat = 'json' | 'text';
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LoggerOptions {
  /** Value of the field `component` in every line. */
  readonly component: string;
  readonly level?: LogLevel;
  readonly format?: LogFormat;
  /** Default: standard error. */
  readonly sink?: Sink;
  readonly secrets?: SecretRegistry;
}

/**
 * Passes JSON lines to the sink in the given format. Checks the descriptor instead of `process.stderr`, which would
 * make a pipe non-blocking for every program that shares it.
 */
export function formatted(sink: Sink, format: LogFormat): Sink {
  if (format === 'json') return sink;
  const paint = painter({ isTTY: isatty(2) }, process.env);
  return { write: (line) => sink.write(textLine(line, paint)) };
}

export type PaintLog = (style: Style, text: string) => string;

const levelStyle: Readonly<Record<string, Style>> = {
  debug: 'dim',
  info: 'green',
  warn: 'yellow',
  error: 'red',
};

/** Formats a JSON line for people: `12:00:01.123 info  proxy listening address=127.0.0.1:8190`. */
function textLine(json: string, paint: PaintLog): string {
  const { level, time, component, event, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const name = String(level);
  const head = [
    paint('dim', String(time).slice(11, 23)),
    paint(levelStyle[name] ?? 'dim', name.padEnd(5)),
    String(component),
    paint('bold', String(event)),
  ];
  const rest = Object.entries(fields).flatMap(([key, value]) => field(key, value, paint));
  return `${[...head, ...rest].join(' ').replaceAll(' \n', '\n')}\n`;
}

/** Lists of texts, such as configuration errors, get one line for each item. */
function field(name: string, value: unknown, paint: PaintLog): string[] {
  if (Array.isArray(value))
    return value.map((item) => `\n    ${paint('dim', `${name}:`)} ${printable(String(item))}`);
  return [`${paint('dim', `${name}=`)}${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`];
}

function quoted(value: string): string {
  return /^[^\s"=\p{C}]+$/u.test(value) ? value : printable(JSON.stringify(value));
}

/** Control characters could control the terminal. */
function printable(value: string): string {
  return value.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** Receives whole lines. */
export interface Sink {
  write(line: string): void;
}

const pauseMs = 5;
const maxPauses = 200;
const pageBytes = 4096;
const lineEnd = Buffer.from('\n');
const never = new Int32Array(new SharedArrayBuffer(4));

export interface DescriptorSinkOptions {
  /** Blocks briefly. */
  readonly pause?: () => void;
  /** Whether writing a page would not block, for a descriptor that must stay blocking. */
  readonly ready?: (descriptor: number) => boolean;
}

/**
 * Writes lines to a descriptor synchronously, so that the last lines before a crash are not lost. Logging never stops
 * the service: a closed reader, or a pipe that stays full for a second, only loses lines, and only the first lost line
 * waits.
 */
export function descriptorSink(descriptor: number, options: DescriptorSinkOptions = {}): Sink {
  const { pause = blockShortly, ready } = options;
  let pausesLeft = maxPauses;
  let torn = false;
  const writeSome = (bytes: Buffer) => {
    if (ready === undefined) return tryWrite(descriptor, bytes);
    return ready(descriptor) ? tryWrite(descriptor, bytes.subarray(0, pageBytes)) : 0;
  };
  return {
    write(line) {
      const whole = torn ? Buffer.concat([lineEnd, Buffer.from(line)]) : Buffer.from(line);
      let rest = whole;
      while (rest.length > 0) {
        const written = writeSome(rest);
        if (written === 'broken') return;
        if (written === 0 && pausesLeft === 0) {
          torn ||= rest.length < whole.length;
          return;
        }
        if (written === 0) {
          pausesLeft--;
          pause();
        }
        rest = rest.subarray(written);
      }
      pausesLeft = maxPauses;
      torn = false;
    },
  };
}

function blockShortly(): void {
  Atomics.wait(never, 0, 0, pauseMs);
}

function tryWrite(descriptor: number, bytes: Buffer): number | 'broken' {
  try {
    return writeSync(descriptor, bytes);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : 'broken';
  }
}
