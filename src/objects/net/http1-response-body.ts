import { release } from '../../runtime/memory.ts';

/** Flow control of a body's connection. */
export interface BodyFlow {
  pause(): void;
  resume(): void;
  /** Discards the rest unread, so the connection cannot be kept. */
  reset(reason: Error): void;
}

/** Buffered bytes at which the connection is paused. */
const highWater = 64 * 1024;
/**
 * A server may send byte by byte, and each piece has an overhead of some hundred bytes, so beyond this number small
 * pieces are joined.
 */
const maxPieces = 64;
const smallPiece = 1024;

/**
 * The body of a response, buffered within limits until it is read. There is one reader at a time, which must consume,
 * discard or destroy the body to free the connection.
 */
export class ResponseBody implements AsyncIterable<Buffer> {
  readonly #flow: BodyFlow;
  readonly #broken: (cause: Error | undefined) => Error;
  readonly #queue: Buffer[] = [];
  #queued = 0;
  #complete = false;
  #failure: Error | undefined;
  #dropped = false;
  #wake: (() => void) | undefined;
  #transform: ((bytes: Buffer) => Buffer) | undefined;
  /** Remaining bytes for `#transform`. */
  #left = 0;
  /** The buffer that a pending `fill` waits for, copied to directly from the connection's memory. */
  #filling: Filling | undefined;

  /** @param broken makes the error that a reader gets for an incomplete body */
  constructor(flow: BodyFlow, broken: (cause: Error | undefined) => Error) {
    this.#flow = flow;
    this.#broken = broken;
  }

  /** Bytes that have arrived but were not read. */
  get waiting(): number {
    return this.#queued;
  }

  /** Whether the whole body has arrived. */
  get complete(): boolean {
    return this.#complete;
  }

  get destroyed(): boolean {
    return this.#failure !== undefined;
  }

  /**
   * At least one byte and at most `max`; undefined at the end. The caller owns the bytes. @throws the error from
   * `broken`
   */
  async next(max = Number.POSITIVE_INFINITY): Promise<Buffer | undefined> {
    while (this.#queue.length === 0) {
      if (this.#isOver()) return undefined;
      await this.#arrival();
    }
    return this.#shift(max);
  }

  /** Exactly `length` bytes in their own memory; undefined if the body ends before. */
  async exact(length: number): Promise<Buffer | undefined> {
    const [first] = this.#queue;
    if (first?.length === length && !isPiece(first)) return this.#shift(length);
    const whole = Buffer.allocUnsafeSlow(length);
    return (await this.fill(whole)) === length ? whole : undefined;
  }

  /**
   * Copies the next bytes into `target` until there are at least `least`.
   * @returns number of bytes; fewer than `least` only at the end of the body. @throws the error from `broken`
   */
  async fill(target: Buffer, least = target.length): Promise<number> {
    const filling: Filling = { target, filled: 0, least };
    while (filling.filled < target.length && this.#queue.length > 0)
      filling.filled += this.#copyFirst(target.subarray(filling.filled));
    if (filling.filled >= least) return filling.filled;
    this.#filling = filling;
    try {
      while (filling.filled < least && !this.#isOver()) await this.#arrival();
      return filling.filled;
    } finally {
      this.#filling = undefined;
    }
  }

  /**
   * Applies the length-preserving `transform` piece by piece to the next `size` bytes. Bytes that have not arrived yet
   * are transformed in place, without a copy. Bytes of an earlier transform must have been read by then.
   */
  through(transform: (bytes: Buffer) => Buffer, size: number): void {
    const waiting = this.#queue.splice(0);
    this.#queued = 0;
    this.#transform = transform;
    this.#left = size;
    for (const chunk of waiting) this.#keep(chunk, true);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void> {
    try {
      for (let chunk = await this.next(); chunk !== undefined; chunk = await this.next()) yield chunk;
    } finally {
      this.close();
    }
  }

  /** Discards the rest, so that the connection can be kept. */
  resume(): void {
    this.#dropped = true;
    this.#queue.length = 0;
    this.#queued = 0;
    if (!this.#complete && this.#failure === undefined) this.#flow.resume();
  }

  /** Closes the connection unless the whole body has arrived. */
  destroy(reason: Error = new Error('the rest of the answer is not wanted')): void {
    if (this.#complete || this.#failure !== undefined) return;
    this.#flow.reset(reason);
    this.failed(reason);
  }

  /** Drops buffered bytes, and closes the connection unless the whole body has arrived. */
  close(): void {
    this.#queue.length = 0;
    this.#queued = 0;
    this.destroy();
  }

  /** Called by the connection with received bytes, in memory that is reused. */
  push(bytes: Buffer): void {
    if (this.#dropped) return;
    const filling = this.#filling;
    const rest = filling === undefined ? bytes : bytes.subarray(copyInto(filling, bytes));
    if (rest.length > 0) this.#keep(rest, false);
    if (this.#queued >= highWater) this.#flow.pause();
    if (filling === undefined || filling.filled >= filling.least) this.#awaken();
  }

  /** Called by the connection when the body is complete. */
  ended(): void {
    this.#complete = true;
    this.#awaken();
  }

  /** Called by the connection when nothing more will arrive. */
  failed(cause: Error | undefined): void {
    if (this.#complete || this.#failure !== undefined) return;
    this.#failure = this.#broken(cause);
    this.#awaken();
  }

  /** @param owned whether the memory is exclusively ours and not reused */
  #keep(bytes: Buffer, owned: boolean): void {
    const count = Math.min(this.#left, bytes.length);
    if (count > 0 && this.#transform !== undefined) {
      this.#left -= count;
      this.#add(this.#transform(count === bytes.length ? bytes : bytes.subarray(0, count)));
    }
    if (count === bytes.length) return;
    const rest = count === 0 ? bytes : bytes.subarray(count);
    this.#add(owned ? rest : copied(rest));
  }

  #add(chunk: Buffer): void {
    this.#queue.push(chunk);
    this.#queued += chunk.length;
    const { length } = this.#queue;
    if (length > maxPieces && this.#queued < length * smallPiece) this.#join();
  }

  #join(): void {
    const whole = Buffer.allocUnsafeSlow(this.#queued);
    let at = 0;
    for (const piece of this.#queue.splice(0)) {
      at += piece.copy(whole, at);
      release(piece);
    }
    this.#queue.push(whole);
  }

  /** @throws the error from `broken` */
  #isOver(): boolean {
    if (this.#complete) return true;
    if (this.#failure !== undefined) throw this.#failure;
    return false;
  }

  #awaken(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #arrival(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#flow.resume();
    });
  }

  #shift(max: number): Buffer {
    const first = this.#queue[0] as Buffer;
    if (first.length <= max) {
      this.#queue.shift();
      this.#queued -= first.length;
      return first;
    }
    const piece = Buffer.allocUnsafeSlow(max);
    this.#copyFirst(piece);
    return piece;
  }

  /** Moves as much as fits of the first chunk, whose memory is exclusively ours. @returns number of bytes */
  #copyFirst(target: Buffer): number {
    const first = this.#queue[0] as Buffer;
    const count = first.copy(target);
    this.#queued -= count;
    if (count < first.length) {
      this.#queue[0] = first.subarray(count);
    } else {
      this.#queue.shift();
      release(Buffer.from(first.buffer));
    }
    return count;
  }
}

interface Filling {
  readonly target: Buffer;
  readonly least: number;
  filled: number;
}

/** @returns number of bytes that `filling` took */
function copyInto(filling: Filling, bytes: Buffer): number {
  const copied = bytes.copy(filling.target, filling.filled);
  filling.filled += copied;
  return copied;
}

const isPiece = (bytes: Buffer): boolean => bytes.length < bytes.buffer.byteLength;

/** In its own memory, which can be released after use. */
function copied(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
