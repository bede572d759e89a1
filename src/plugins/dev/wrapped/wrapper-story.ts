import { isRecord } from '../../../core/vault/answer.ts';

export interface Failure {
  /** Undefined where it was the application that failed. */
  readonly code: string | undefined;
  readonly reason: string;
}

/** What the lines of a wrapper's log have told so far. */
export class WrapperStory {
  /** `host:port` of its health endpoint. */
  healthAddress: string | undefined;
  /** Of the application that was started last. */
  applicationPid: number | undefined;
  /** Name of the event that was logged last. */
  lastEvent: string | undefined;
  #failure: Failure | undefined;
  #applicationWords = '';

  /** Takes a line of its standard error, which the application shares. @returns the event where it is of the log */
  note(line: string): Record<string, unknown> | undefined {
    const entry = parsed(line);
    if (entry === undefined) this.#applicationWords = line;
    else this.lastEvent = String(entry['event']);
    if (entry?.['event'] === 'health.listening') this.healthAddress = String(entry['address']);
    if (entry?.['event'] === 'application.started') this.applicationPid = Number(entry['pid']);
    if (entry?.['event'] === 'start.failed') this.#failure = failureIn(entry);
    return entry;
  }

  /** Why it ended, where that was told. */
  get failure(): Failure | undefined {
    if (this.#failure !== undefined) return this.#failure;
    const reason = this.#applicationWords;
    return reason === '' ? undefined : { code: undefined, reason };
  }
}

function parsed(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const entry: unknown = JSON.parse(line);
    return isRecord(entry) && typeof entry['event'] === 'string' ? entry : undefined;
  } catch {
    return undefined;
  }
}

function failureIn({ code, error, details }: Record<string, unknown>): Failure {
  const findings = Array.isArray(details) ? details : [];
  return { code: String(code), reason: [error, ...findings].join('; ') };
}
