import type { LogFields, Logger } from '../../../../src/runtime/logging/logger.ts';

export type LogLine = LogFields & { readonly event: string; readonly level: string };

/** A log that keeps its lines. */
export function recordingLog(): { readonly log: Logger; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write =
    (level: string) =>
    (event: string, fields: LogFields = {}) =>
      void lines.push({ ...fields, event, level });
  const log: Logger = {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: () => log,
  };
  return { log, lines };
}
