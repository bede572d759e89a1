export type LogFields = Readonly<
  Record<string, string | number | boolean | undefined | null | readonly string[]>
>;

/**
 * Structured log, one JSON line an event on standard error. `event` is a stable
 * dotted name, fields are names and numbers, never secret values.
 */
export interface Logger {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields & { error?: string }): void;
  error(event: string, fields?: LogFields & { error?: string }): void;
  child(fields: LogFields): Logger;
}
