/** A line of a component's JSON log. */
export interface LogLine {
  readonly event: string;
  readonly level: string;
  // biome-ignore lint/suspicious/noExplicitAny: fields of a log line are picked apart freely
  readonly [field: string]: any;
}

/** The whole lines of the log in what a component and its children wrote, oldest first; those of one event when it is named. */
export function logLines(output: string, event?: string): LogLine[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{"level":') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as LogLine)
    .filter((line) => event === undefined || line.event === event);
}
