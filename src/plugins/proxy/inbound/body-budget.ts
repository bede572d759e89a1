import { s3Error } from '../../../core/s3/error-catalog.ts';
import type { Payload } from '../../../core/s3/received-payload.ts';

/** Bodies up to this size are bounded by the number of requests in progress, in bytes. */
const small = 16 * 1024;

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
      if (bytes > small) held += this.#take(bytes);
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
