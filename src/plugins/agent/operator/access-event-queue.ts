import type { ObservedAccessEvent } from './contract.ts';

/** Equal access events merged into one. */
export interface QueuedAccessEvent {
  readonly first: ObservedAccessEvent;
  /** Time of the last event, in nanoseconds since 1970. */
  readonly lastAt: bigint;
  readonly count: number;
}

export interface NumberedAccessEvent extends QueuedAccessEvent {
  readonly number: number;
}

type Growing = { -readonly [K in keyof QueuedAccessEvent]: QueuedAccessEvent[K] };

/**
 * Access events that the operator has not confirmed, oldest first. Equal events are merged until they are first sent;
 * then they keep their number and count, so that the operator recognizes a repetition.
 */
export class AccessEventQueue {
  readonly #capacity: number;
  readonly #waiting = new Map<string, Growing>();
  #order = this.#waiting.keys();
  #sent: NumberedAccessEvent[] = [];
  #lastNumber = 0;
  #dropped = 0;

  /** @param capacity must exceed the number that is sent at once */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#waiting.size + this.#sent.length;
  }

  /** Number of dropped access events, merged ones counted individually. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Without room, drops the oldest that was never sent: sent ones may have arrived. */
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

  /** The oldest events, beginning with those that were sent before. */
  take(limit: number): readonly NumberedAccessEvent[] {
    while (this.#sent.length < limit) {
      const next = this.#shift();
      if (next === undefined) break;
      this.#lastNumber += 1;
      this.#sent.push({ ...next, number: this.#lastNumber });
    }
    return this.#sent.slice(0, limit);
  }

  /** Removes events up to this number, which have arrived. @returns how many were removed */
  accept(number: number): number {
    const before = this.#sent.length;
    this.#sent = this.#sent.filter((hit) => hit.number > number);
    return before - this.#sent.length;
  }

  /** Drops the events that were sent. */
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

  /** Keeps one iterator, which also visits later additions: a new one would step over every removed entry. */
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
