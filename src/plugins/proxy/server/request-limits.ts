import { setTimeout as sleep } from 'node:timers/promises';
import { s3Error } from '../../../core/s3/error.ts';
import type { Payload } from '../../../core/s3/received-payload.ts';

/** Bodies up to this size are bounded by the number of requests in progress, in bytes. */
const smallBody = 16 * 1024;

/** Bounds the bodies that are held in memory as a whole (part lists, multi-deletes, configurations), over all requests. */
export class BodyBudget {
  #left: number;

  /** @param bytes as they come from the caller; what is made of them takes several times as much */
  constructor(bytes: number) {
    this.#left = bytes;
  }

  /**
   * The same payload, whose `read` takes its room before the first byte is read, and keeps it until `release`.
   * @returns `release` may be called at any time
   */
  bounded(payload: Payload): { readonly payload: Payload; readonly release: () => void } {
    let held = 0;
    const read = (limit: number) => {
      const bytes = Math.min(payload.length ?? limit, limit);
      if (bytes > smallBody) held += this.#take(bytes);
      return payload.read(limit);
    };
    const release = () => {
      this.#left += held;
      held = 0;
    };
    return { payload: { ...payload, read }, release };
  }

  #take(bytes: number): number {
    if (bytes > this.#left) throw s3Error('SlowDown');
    this.#left -= bytes;
    return bytes;
  }
}

/** Bounds the requests of callers that are served at a time. */
export class RequestSlots {
  readonly #makeRoom: () => boolean;
  #left: number;

  /** @param makeRoom ends a request that stands still; false where there is none */
  constructor(count: number, makeRoom: () => boolean) {
    this.#left = count;
    this.#makeRoom = makeRoom;
  }

  /** @returns to be called at the end of the request, or before. @throws S3Error SlowDown where there is no room */
  enter(): () => void {
    if (this.#left <= 0 && !this.#makeRoom()) throw s3Error('SlowDown');
    this.#left--;
    let held = 1;
    return () => {
      this.#left += held;
      held = 0;
    };
  }
}

/** What one request holds of the room for answers of the store. */
export interface HeldResponses {
  /** Resolves when the store may be asked. @throws S3Error SlowDown where that takes too long; why `signal` was aborted */
  begin(): Promise<void>;
  /** Resolves when so many bytes more may be held. @throws S3Error SlowDown where that takes too long; why `signal` was aborted */
  take(bytes: number): Promise<void>;
  /** Safe to call at any time. */
  release(): void;
}

/** Answers up to this size are bounded by their number, in bytes. */
const smallAnswer = 32 * 1024;
/** Answers at a time: the kernel holds a part of each, too, before it is read. */
const atOnce = 16;
const patienceMs = 20_000;

interface Hold {
  bytes: number;
}

/**
 * Bounds the answers of the store that are held in memory as a whole (listings, results of deletions), over all requests.
 * The request that has waited for the longest goes on whatever the bound is, so that one of them always comes to its end.
 */
export class ResponseMemory {
  readonly #bytes: number;
  /** In the order in which they began. */
  readonly #holds = new Set<Hold>();
  #used = 0;
  #freed = Promise.withResolvers<void>();

  /** @param bytes as they come from the store; what is made of them takes several times as much */
  constructor(bytes: number) {
    this.#bytes = bytes;
  }

  hold(signal: AbortSignal): HeldResponses {
    const hold = { bytes: -smallAnswer };
    return {
      begin: async () => {
        await this.#until(() => this.#holds.size < atOnce || this.#holds.has(hold), signal);
        this.#holds.add(hold);
      },
      take: (bytes) => this.#take(hold, bytes, signal),
      release: () => {
        if (!this.#holds.delete(hold)) return;
        this.#used -= Math.max(0, hold.bytes);
        this.#freed.resolve();
        this.#freed = Promise.withResolvers();
      },
    };
  }

  async #take(hold: Hold, bytes: number, signal: AbortSignal): Promise<void> {
    const more = Math.max(0, hold.bytes + bytes) - Math.max(0, hold.bytes);
    const isFree = () => this.#used + more <= this.#bytes || this.#holds.values().next().value === hold;
    if (more > 0) await this.#until(isFree, signal);
    this.#used += more;
    hold.bytes += bytes;
  }

  async #until(isFree: () => boolean, signal: AbortSignal): Promise<void> {
    const deadline = performance.now() + patienceMs;
    while (!isFree()) {
      const left = deadline - performance.now();
      if (left <= 0) throw s3Error('SlowDown');
      const woken = new AbortController();
      const timer = sleep(left, undefined, { signal: AbortSignal.any([signal, woken.signal]) });
      await Promise.race([this.#freed.promise, timer.catch(() => undefined)]);
      woken.abort();
      signal.throwIfAborted();
    }
  }
}
