import type { Logger } from '../../../src/runtime/logging/logger.ts';

/** A log that keeps its events for the test to look at. */
export function quietLog(events: string[] = []): Logger {
  const note = (event: string) => void events.push(event);
  const log: Logger = { debug: note, info: note, warn: note, error: note, child: () => log };
  return log;
}
