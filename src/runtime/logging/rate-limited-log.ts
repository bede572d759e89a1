import type { LogFields, Logger } from './logger.ts';

/** A rate: `burst` lines at once, and on average one every `everyMs` milliseconds. */
export interface LineRate {
  readonly burst: number;
  readonly everyMs: number;
}

/** For lines that others can cause at will: lines above the limit are counted, and the next line shows the count. */
export class RateLimitedLog {
  readonly #log: Logger;
  readonly #rate: LineRate;
  readonly #now: () => number;
  /** Time at which the whole burst is available again. */
  #fullAt = Number.NEGATIVE_INFINITY;
  #leftOut = 0;

  /** @param now monotonic milliseconds */
  constructor(log: Logger, rate: LineRate, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#rate = rate;
    this.#now = now;
  }

  info(event: string, fields: FieldsOfLine): void {
    this.#write('info', event, fields, this.#now());
  }

  /** @param at current time in milliseconds, if the caller already has it */
  warn(event: string, fields: FieldsOfLine, at = this.#now()): void {
    this.#write('warn', event, fields, at);
  }

  #write(level: 'info' | 'warn', event: string, fields: FieldsOfLine, now: number): void {
    const { burst, everyMs } = this.#rate;
    if (this.#fullAt - now > (burst - 1) * everyMs) {
      this.#leftOut += 1;
      return;
    }
    this.#fullAt = Math.max(this.#fullAt, now) + everyMs;
    const leftOut = this.#leftOut;
    this.#leftOut = 0;
    this.#log[level](event, fields(leftOut));
  }
}

/** Called only for lines that are written. `leftOut`: number of lines suppressed since the last one. */
type FieldsOfLine = (leftOut: number) => LogFields & { readonly error?: string };
