import type { Socket } from 'node:net';

/** What has to move in a time; less is slow. */
export interface MinPace {
  readonly bytes: number;
  readonly ms: number;
}

/** Judges how fast something moves, whenever somebody wants to know. */
export class Pace {
  readonly #min: MinPace;
  /** Bytes moved until `#since`. */
  #before: number;
  #since = performance.now();

  /** @param moved bytes moved so far */
  constructor(min: MinPace, moved: number) {
    this.#min = min;
    this.#before = moved;
  }

  /**
   * @param moved bytes moved so far
   * @returns the time since which too little has moved; undefined if it is fast enough, or too early to say
   */
  slowSince(moved: number): number | undefined {
    const now = performance.now();
    if (moved - this.#before >= this.#min.bytes) {
      this.#before = moved;
      this.#since = now;
    }
    return now - this.#since >= this.#min.ms ? this.#since : undefined;
  }
}

/** Bytes in both directions. */
export const movedBy = ({ bytesRead, bytesWritten }: Socket): number => bytesRead + bytesWritten;
