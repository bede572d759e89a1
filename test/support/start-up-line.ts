import type { Child } from './child.ts';
import { waitFor } from './wait-for.ts';

export type LogLine = Readonly<Record<string, unknown>>;

/**
 * The fields of the line with which a component says that it serves.
 * @throws Error with its output when it ends before that
 */
export async function startUpLine(
  command: string,
  child: Child,
  output: () => string,
): Promise<Record<string, string>> {
  const line = await waitFor(
    `the start-up line of ${command}`,
    () => linesOf(output()).find(({ event }) => event === 'listening') ?? child.ended,
    { details: output },
  );
  if (line === true) throw new Error(`${command} ended while starting\n${output()}`);
  return line as Record<string, string>;
}

/** What of an output are whole lines of a JSON log. */
export function linesOf(output: string): LogLine[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line));
}
