import { painter } from '../cli/terminal.ts';
import type { Sink } from './stderr-sink.ts';
import { textLine } from './text-format.ts';

export type LogFormat = 'json' | 'text';

/** Takes JSON lines and hands them to the sink in that format. */
export function formatted(sink: Sink, format: LogFormat): Sink {
  if (format === 'json') return sink;
  const paint = painter(process.stderr, process.env);
  return { write: (line) => sink.write(textLine(line, paint)) };
}
