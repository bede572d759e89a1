import type { ItemResult, TransitInput } from '../../core/vault/transit-messages.ts';
import { requestLimits } from './client.ts';
import { type ItemResults, isVaultError, type TransitCalls, tooBusy } from './contract.ts';

/**
 * Joins the calls of many callers: what arrives in one turn of the event loop leaves together, two calls are in flight at
 * a time, and what arrives meanwhile leaves together as soon as one of them has ended.
 *
 * Callers do not notice each other: each gets the results of its own items, and has its own signal and its own
 * deadline, which counts from its arrival. A call that was refused as a whole, possibly because of one item, is made
 * again for each of its callers alone.
 * @param deadlineMs for one caller, with the time that it waits
 */
export function joinedCalls<V>(
  calls: TransitCalls<V>,
  deadlineMs: number = requestLimits.deadlineMs,
): TransitCalls<V> {
  return new Lane(calls, deadlineMs);
}

const mostInFlight = 2;

/** Items that may wait: far more than the requests of a process that are served at a time have. */
const mostWaiting = 10_000;

/** The timer for deadlines fires no sooner again, in ms. */
const leastPauseMs = 100;

class Lane<V> implements TransitCalls<V> {
  readonly #calls: TransitCalls<V>;
  readonly #deadlineMs: number;
  #inFlight = 0;
  /** Whether what has arrived in this turn is sent at its end. */
  #due = false;
  /** In order of arrival. */
  #waiting = new Set<JoinedCaller<V>>();
  #itemsWaiting = 0;
  /** Calls in flight with callers that have waited for another to end. */
  readonly #shared = new Set<SharedCall<V>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(calls: TransitCalls<V>, deadlineMs: number) {
    this.#calls = calls;
    this.#deadlineMs = deadlineMs;
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

  /** Their deadlines have just begun: the client keeps them, and knows what a request that takes longer died of. */
  readonly #sendArrived = (): void => {
    this.#due = false;
    this.#sendWaiting('keeps deadlines');
  };

  #join(inputs: readonly TransitInput[], signal: AbortSignal | undefined): Promise<CallResult<V>> {
    signal?.throwIfAborted();
    if (this.#itemsWaiting + inputs.length > mostWaiting) throw tooBusy();
    const caller = new JoinedCaller<V>(inputs, signal, performance.now() + this.#deadlineMs, this.#onGone);
    this.#enqueue(caller);
    this.#timer ??= this.#watch(this.#deadlineMs);
    return caller.answer;
  }

  #enqueue(caller: JoinedCaller<V>): void {
    this.#waiting.add(caller);
    this.#itemsWaiting += caller.count;
  }

  #dequeue(caller: JoinedCaller<V>): void {
    if (this.#waiting.delete(caller)) this.#itemsWaiting -= caller.count;
  }

  /** One that was aborted. Its call goes on as long as anybody waits for it. */
  readonly #onGone = (caller: JoinedCaller<V>): void => {
    if (caller.call === undefined) this.#dequeue(caller);
    else caller.call.leave();
  };

  #ended(): void {
    this.#inFlight--;
    this.#sendWaiting();
  }

  #sendWaiting(client?: 'keeps deadlines'): void {
    while (this.#inFlight < mostInFlight && this.#waiting.size > 0) void this.#send(this.#next(), client);
  }

  /** The first that wait, as many as fit into one call. */
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

  async #send(callers: readonly JoinedCaller<V>[], client?: 'keeps deadlines'): Promise<void> {
    const call = new SharedCall(callers);
    this.#inFlight++;
    if (client === undefined) this.#shared.add(call);
    try {
      const inputs = callers.flatMap((caller) => caller.inputs);
      const answer = await this.#calls.call(inputs, call.signal);
      if (answer === 'too large') this.#cut(callers);
      else this.#handOut(callers, answer);
    } catch (error) {
      this.#failed(callers, error);
    } finally {
      this.#shared.delete(call);
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

  /** Callers whose items still fit go again in smaller calls; the others cut theirs themselves. */
  #cut(callers: readonly JoinedCaller<V>[]): void {
    for (const caller of callers) if (caller.count > this.most) caller.settle('too large');
    this.#again(callers);
  }

  /** What concerns all of them is one error for all. */
  #failed(callers: readonly JoinedCaller<V>[], error: unknown): void {
    if (callers.length > 1 && mayBeOneItem(error)) {
      for (const caller of callers) caller.alone = true;
      this.#again(callers);
    } else {
      for (const caller of callers) caller.fail(error);
    }
  }

  /** They have waited longer than the others. The timer may know nothing of their deadlines: the client kept them. */
  #again(callers: readonly JoinedCaller<V>[]): void {
    const later = this.#waiting;
    this.#waiting = new Set();
    this.#itemsWaiting = 0;
    for (const caller of callers) {
      caller.call = undefined;
      if (!caller.settled) this.#enqueue(caller);
    }
    for (const caller of later) this.#enqueue(caller);
    clearTimeout(this.#timer);
    this.#expire();
  }

  /** One timer for all: it fires at the deadline of the first that waits. */
  #watch(pauseMs: number): NodeJS.Timeout {
    return setTimeout(this.#expire, Math.max(leastPauseMs, pauseMs)).unref();
  }

  readonly #expire = (): void => {
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const caller of this.#unanswered()) {
      if (caller.deadline > now) next = Math.min(next, caller.deadline);
      else if (caller.fail(tooBusy())) this.#onGone(caller);
    }
    this.#timer = next === Number.POSITIVE_INFINITY ? undefined : this.#watch(next - now);
  };

  #unanswered(): JoinedCaller<V>[] {
    const sent = [...this.#shared].flatMap(({ callers }) => callers);
    return [...this.#waiting, ...sent].filter(({ settled }) => !settled);
  }
}

/** The server has understood the call and refused it. That it is away, or denies the path, concerns every caller. */
const mayBeOneItem = (error: unknown): boolean =>
  isVaultError(error) && (error.kind === 'rejected' || error.kind === 'expired-version');

/** One of the callers of a joined call. It is its own listener of its signal, and settles once. */
class JoinedCaller<V> {
  readonly inputs: readonly TransitInput[];
  readonly deadline: number;
  readonly answer: Promise<CallResult<V>>;
  /** The call in flight for it. */
  call: SharedCall<V> | undefined;
  /** Nobody else's items go with its own. */
  alone = false;
  /** From then on its items are of no use: they may be keys that their owner has zeroed. */
  settled = false;
  readonly #signal: AbortSignal | undefined;
  readonly #onGone: (caller: JoinedCaller<V>) => void;
  readonly #resolve: (answer: CallResult<V>) => void;
  readonly #reject: (reason: unknown) => void;

  constructor(
    inputs: readonly TransitInput[],
    signal: AbortSignal | undefined,
    deadline: number,
    onGone: (caller: JoinedCaller<V>) => void,
  ) {
    const { promise, resolve, reject } = Promise.withResolvers<CallResult<V>>();
    this.inputs = inputs;
    this.deadline = deadline;
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

  /** Answers false where nobody waits for the answer any more. */
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

/** One call for several callers. It is aborted when all of them have gone. */
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

/** What a call comes to, for one caller or for all. */
type CallResult<V> = ItemResults<V> | 'too large';
