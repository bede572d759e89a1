import type { IncomingMessage } from 'node:http';
import { Budget } from '../../../runtime/bounds/budget.ts';
import { release } from '../../../runtime/memory.ts';

/** Bounds on reading an unwanted body before its connection is closed. */
const bounds = { bytes: 16 * 1024 * 1024, milliseconds: 5_000 };
/** Callers need no key to send what is refused, and a body in tiny chunks takes the time of all others. */
const atOnce = 8;

/** Reads and discards what callers still send of refused requests, a few at a time. */
export class Drain {
  readonly #places = new Budget(atOnce);

  /** The rest of a body, within bounds; never rejects. Where there is no place in time, nothing of it is read. */
  async rest(request: IncomingMessage): Promise<void> {
    const begun = performance.now();
    const place = this.#places.ask(1);
    const giveUp = () => void place.giveUp();
    const timer = setTimeout(giveUp, bounds.milliseconds);
    request.once('close', giveUp);
    try {
      if (await place.granted) await discard(request, bounds.milliseconds - (performance.now() - begun));
    } finally {
      clearTimeout(timer);
      request.off('close', giveUp);
      place.release();
    }
  }
}

function discard(request: IncomingMessage, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    let left = bounds.bytes;
    const timer = setTimeout(finish, milliseconds);
    const onData = (chunk: Buffer) => {
      left -= chunk.length;
      release(chunk);
      if (left < 0) finish();
    };
    function finish() {
      clearTimeout(timer);
      request.off('data', onData).pause();
      resolve();
    }
    if (request.readableEnded || request.destroyed) return finish();
    request.once('end', finish).once('close', finish).once('error', finish).on('data', onData).resume();
  });
}
