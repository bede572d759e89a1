import type { ObservedAccessEvent } from './contract.ts';

/** Equal hits as one. */
export interface QueuedAccessEvent {
  readonly first: ObservedAccessEvent;
  /** Of the last one, in nanoseconds since 1970. */
  readonly lastAt: bigint;
  readonly count: number;
}

export interface NumberedAccessEvent extends QueuedAccessEvent {
  readonly number: number;
}

type Growing = { -readonly [K in keyof QueuedAccessEvent]: QueuedAccessEvent[K] };

/**
 * Hits that the operator has not confirmed, oldest first. Equal ones are taken as one until they are first sent;
 * from then on they keep their number and count, so that the operator can tell a repetition.
 */
export class AccessEventQueue {
  readonly #capacity: number;
  readonly #waiting = new Map<string, Growing>();
  #order = this.#waiting.keys();
  #sent: NumberedAccessEvent[] = [];
  #lastNumber = 0;
  #dropped = 0;

  /** @param capacity more than are ever sent at once */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#waiting.size + this.#sent.length;
  }

  /** Hits that were given up, each one counted. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Where there is no room the oldest go that were never sent: of what was sent nobody knows whether it arrived. */
  add(hit: ObservedAccessEvent, count = 1, lastAt = hit.at): void {
    const key = keyOf(hit);
    const equal = this.#waiting.get(key);
    if (equal !== undefined) {
      equal.count += count;
      equal.lastAt = lastAt;
      return;
    }
    if (this.size >= this.#capacity) this.#dropped += this.#shift()?.count ?? 0;
    this.#waiting.set(key, { first: hit, lastAt, count });
  }

  /** The oldest, those first that were sent before. */
  take(limit: number): readonly NumberedAccessEvent[] {
    while (this.#sent.length < limit) {
      const next = this.#shift();
      if (next === undefined) break;
      this.#lastNumber += 1;
      this.#sent.push({ ...next, number: this.#lastNumber });
    }
    return this.#sent.slice(0, limit);
  }

  /** Those up to this number have arrived. @returns how many that were */
  accept(number: number): number {
    const before = this.#sent.length;
    this.#sent = this.#sent.filter((hit) => hit.number > number);
    return before - this.#sent.length;
  }

  /** Gives up what was sent. */
  refuse(): void {
    for (const { count } of this.#sent) this.#dropped += count;
    this.#sent = [];
  }

  #shift(): Growing | undefined {
    const key = this.#oldestKey();
    const oldest = key === undefined ? undefined : this.#waiting.get(key);
    if (key !== undefined) this.#waiting.delete(key);
    return oldest;
  }

  /** One iterator goes on over what is added behind it; a new one would walk past all that was removed. */
  #oldestKey(): string | undefined {
    const step = this.#order.next();
    if (!step.done) return step.value;
    this.#order = this.#waiting.keys();
    return this.#order.next().value;
  }
}

function keyOf({ source, target, road, outcome, syscall }: ObservedAccessEvent): string {
  return `${source.pid} ${source.uid} ${target.pid} ${target.start} ${road} ${outcome} ${syscall} ${source.comm}`;
}
