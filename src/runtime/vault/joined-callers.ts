import type { TransitInput } from '../../core/vault/transit-messages.ts';
import type { ItemResults } from './transit-calls.ts';

/** One of the callers of a joined call. It is its own listener of its signal, and settles once. */
export class JoinedCaller<V> {
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
export class SharedCall<V> {
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
export type CallResult<V> = ItemResults<V> | 'too large';
