import { isatty } from 'node:tty';
import { painter, type Style } from '../cli/terminal.ts';
import type { Sink } from './stderr-sink.ts';

export type LogFormat = 'json' | 'text';

/**
 * Takes JSON lines and hands them to the sink in that format. Asks the descriptor and not `process.stderr`,
 * which would make a pipe non-blocking for whatever program shares it.
 */
export function formatted(sink: Sink, format: LogFormat): Sink {
  if (format === 'json') return sink;
  const paint = painter({ isTTY: isatty(2) }, process.env);
  return { write: (line) => sink.write(textLine(line, paint)) };
}

export type Paint = (style: Style, text: string) => string;

const levelStyle: Readonly<Record<string, Style>> = {
  debug: 'dim',
  info: 'green',
  warn: 'yellow',
  error: 'red',
};

/** One line for people from one JSON line: `12:00:01.123 info  proxy listening address=127.0.0.1:8190`. */
function textLine(json: string, paint: Paint): string {
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

/** Lists of texts, such as configuration mistakes, take a line an item. */
function field(name: string, value: unknown, paint: Paint): string[] {
  if (Array.isArray(value))
    return value.map((item) => `\n    ${paint('dim', `${name}:`)} ${printable(String(item))}`);
  return [`${paint('dim', `${name}=`)}${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`];
}

function quoted(value: string): string {
  return /^[^\s"=\p{C}]+$/u.test(value) ? value : printable(JSON.stringify(value));
}

/** Control characters could drive the terminal. */
function printable(value: string): string {
  return value.replace(/\p{C}/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}
