import { type ItemResults, isVaultError, type TransitCalls, tooBusy } from './contract.ts';
import type { ItemResult, TransitInput } from './transit-messages.ts';

/**
 * Joins the calls of many callers: items that arrive in one turn of the event loop are sent together, two calls are in
 * flight at a time, and items that arrive meanwhile are sent together as soon as one of them has ended. Callers do not
 * affect each other: each gets the results of its own items, and can leave at any time by its own signal. A call that
 * was refused as a whole, possibly because of one item, is repeated separately for each of its callers.
 */
export function joinedCalls<V>(calls: TransitCalls<V>): TransitCalls<V> {
  return new Lane(calls);
}

const mostInFlight = 2;

/** Maximum number of waiting items: far more than the concurrent requests of a process need. */
const mostWaiting = 10_000;

class Lane<V> implements TransitCalls<V> {
  readonly #calls: TransitCalls<V>;
  #inFlight = 0;
  /** Whether sending is scheduled for the end of this turn. */
  #due = false;
  /** In order of arrival. */
  #waiting = new Set<JoinedCaller<V>>();
  #itemsWaiting = 0;

  constructor(calls: TransitCalls<V>) {
    this.#calls = calls;
  }

  get path(): string {
    return this.#calls.path;
  }

  get most(): number {
    return this.#calls.most;
  }

  discard(value: V): void {
    this.#calls.discard(value);
  }

  async call(inputs: readonly TransitInput[], signal: AbortSignal | undefined): Promise<CallResult<V>> {
    const answer = this.#join(inputs, signal);
    if (!this.#due && this.#inFlight < mostInFlight) {
      this.#due = true;
      setImmediate(this.#sendArrived);
    }
    return answer;
  }

  readonly #sendArrived = (): void => {
    this.#due = false;
    this.#sendWaiting();
  };

  #join(inputs: readonly TransitInput[], signal: AbortSignal | undefined): Promise<CallResult<V>> {
    signal?.throwIfAborted();
    if (this.#itemsWaiting + inputs.length > mostWaiting) throw tooBusy();
    const caller = new JoinedCaller<V>(inputs, signal, this.#onGone);
    this.#enqueue(caller);
    return caller.answer;
  }

  #enqueue(caller: JoinedCaller<V>): void {
    this.#waiting.add(caller);
    this.#itemsWaiting += caller.count;
  }

  #dequeue(caller: JoinedCaller<V>): void {
    if (this.#waiting.delete(caller)) this.#itemsWaiting -= caller.count;
  }

  /** Handles an aborted caller. Its call continues as long as anyone waits for it. */
  readonly #onGone = (caller: JoinedCaller<V>): void => {
    if (caller.call === undefined) this.#dequeue(caller);
    else caller.call.leave();
  };

  #ended(): void {
    this.#inFlight--;
    this.#sendWaiting();
  }

  #sendWaiting(): void {
    while (this.#inFlight < mostInFlight && this.#waiting.size > 0) void this.#send(this.#next());
  }

  /** The first waiting callers whose items fit into one call. */
  #next(): JoinedCaller<V>[] {
    const callers: JoinedCaller<V>[] = [];
    let items = 0;
    for (const caller of this.#waiting) {
      items += caller.count;
      if (callers.length > 0 && (caller.alone || items > this.most)) break;
      callers.push(caller);
      this.#dequeue(caller);
      if (caller.alone) break;
    }
    return callers;
  }

  async #send(callers: readonly JoinedCaller<V>[]): Promise<void> {
    const call = new SharedCall(callers);
    this.#inFlight++;
    try {
      const inputs = callers.flatMap((caller) => caller.inputs);
      const answer = await this.#calls.call(inputs, call.signal);
      if (answer === 'too large') this.#cut(callers);
      else this.#handOut(callers, answer);
    } catch (error) {
      this.#failed(callers, error);
    } finally {
      this.#ended();
    }
  }

  #handOut(callers: readonly JoinedCaller<V>[], { status, results }: ItemResults<V>): void {
    let at = 0;
    for (const caller of callers) {
      const own = results.slice(at, at + caller.count);
      at += caller.count;
      if (!caller.settle({ status, results: own })) this.#discardAll(own);
    }
  }

  #discardAll(results: readonly ItemResult<V>[]): void {
    for (const result of results) if ('value' in result) this.discard(result.value);
  }

  /** Callers whose items still fit are sent again in smaller calls; the others split their items themselves. */
  #cut(callers: readonly JoinedCaller<V>[]): void {
    for (const caller of callers) if (caller.count > this.most) caller.settle('too large');
    this.#again(callers);
  }

  /** Handles an error of a whole call. */
  #failed(callers: readonly JoinedCaller<V>[], error: unknown): void {
    if (callers.length > 1 && mayBeOneItem(error)) {
      for (const caller of callers) caller.alone = true;
      this.#again(callers);
    } else {
      for (const caller of callers) caller.fail(error);
    }
  }

  /** Puts callers first, because they have waited longer than the others. */
  #again(callers: readonly JoinedCaller<V>[]): void {
    const later = this.#waiting;
    this.#waiting = new Set();
    this.#itemsWaiting = 0;
    for (const caller of callers) {
      caller.call = undefined;
      if (!caller.settled) this.#enqueue(caller);
    }
    for (const caller of later) this.#enqueue(caller);
  }
}

/**
 * The server understood the call and refused it. Unavailability or a denied path, in contrast, concerns every caller.
 */
const mayBeOneItem = (error: unknown): boolean =>
  isVaultError(error) && (error.kind === 'rejected' || error.kind === 'expired-version');

/** One caller of a joined call. It watches its own signal and settles once. */
class JoinedCaller<V> {
  readonly inputs: readonly TransitInput[];
  readonly answer: Promise<CallResult<V>>;
  /** The call in flight for this caller. */
  call: SharedCall<V> | undefined;
  /** Its items are sent alone. */
  alone = false;
  /** Its items must not be used after this: they may be keys that their owner has zeroed. */
  settled = false;
  readonly #signal: AbortSignal | undefined;
  readonly #onGone: (caller: JoinedCaller<V>) => void;
  readonly #resolve: (answer: CallResult<V>) => void;
  readonly #reject: (reason: unknown) => void;

  constructor(
    inputs: readonly TransitInput[],
    signal: AbortSignal | undefined,
    onGone: (caller: JoinedCaller<V>) => void,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<CallResult<V>>();
    this.inputs = inputs;
    this.answer = promise;
    this.#signal = signal;
    this.#onGone = onGone;
    this.#resolve = resolve;
    this.#reject = reject;
    signal?.addEventListener('abort', this);
  }

  get count(): number {
    return this.inputs.length;
  }

  handleEvent(): void {
    if (this.fail(this.#signal?.reason)) this.#onGone(this);
  }

  /** @returns false if nobody waits for the result any more */
  settle(answer: CallResult<V>): boolean {
    if (!this.#end()) return false;
    this.#resolve(answer);
    return true;
  }

  fail(reason: unknown): boolean {
    if (!this.#end()) return false;
    this.#reject(reason);
    return true;
  }

  #end(): boolean {
    if (this.settled) return false;
    this.settled = true;
    this.#signal?.removeEventListener('abort', this);
    return true;
  }
}

/** One call for several callers, aborted when all of them have left. */
class SharedCall<V> {
  readonly callers: readonly JoinedCaller<V>[];
  readonly #controller = new AbortController();
  #left: number;

  constructor(callers: readonly JoinedCaller<V>[]) {
    this.callers = callers;
    this.#left = callers.length;
    for (const caller of callers) caller.call = this;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  leave(): void {
    this.#left--;
    if (this.#left === 0) this.#controller.abort();
  }
}

/** The outcome of a call, for one caller or for all. */
type CallResult<V> = ItemResults<V> | 'too large';
