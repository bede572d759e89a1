import type { SessionState } from '../../src/keyserver/session.ts';
import type { LogFields, Logger } from '../../src/runtime/logging/logger.ts';

export interface Recorder {
  readonly log: Logger;
  readonly onState: (state: SessionState) => void;
  readonly events: { level: string; event: string; fields: LogFields }[];
  readonly states: SessionState[];
  /** Everything that was logged or reported, as text. */
  text(): string;
}

/** Keeps what a client logs and reports. */
export function recorder(): Recorder {
  const events: Recorder['events'] = [];
  const states: SessionState[] = [];
  const keep =
    (level: string) =>
    (event: string, fields: LogFields = {}) => {
      events.push({ level, event, fields });
    };
  const log: Logger = {
    debug: keep('debug'),
    info: keep('info'),
    warn: keep('warn'),
    error: keep('error'),
    child: () => log,
  };
  return {
    log,
    events,
    states,
    onState: (state) => states.push(state),
    text: () => JSON.stringify({ events, states }),
  };
}
