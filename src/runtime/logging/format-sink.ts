import { isatty } from 'node:tty';
import { painter } from '../cli/terminal.ts';
import type { Sink } from './stderr-sink.ts';
import { textLine } from './text-format.ts';

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
