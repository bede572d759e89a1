import type { IncomingMessage, ServerResponse } from 'node:http';
import { bytesPerPart, type JsonSize, sizeOfJson } from '../../../runtime/bounds/bounded-json.ts';
import type { Budget } from '../../../runtime/bounds/budget.ts';
import { joinSmallPieces } from '../../../runtime/net/join-small-pieces.ts';
import { limitPieces } from '../../../runtime/net/limit-pieces.ts';
import { maxParts } from './review.ts';

/**
 * A pod takes at most 1.5 MiB in etcd. As JSON it may be longer than this: the API server writes `<`, `>` and `&` as six
 * characters, and its managed fields repeat names.
 */
export const largestReview = 4 * 1024 * 1024;

/** A body that is incomplete after this time is aborted if others wait for its memory. */
const patienceMs = 3_000;

export type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer; readonly size: JsonSize }
  /** Longer than `largestReview`. */
  | { readonly kind: 'too long' }
  /** No memory became free in time. */
  | { readonly kind: 'no room' }
  /** The caller disconnected or was too slow. */
  | { readonly kind: 'broken off' };

/** Bytes and values hold each text of the pod; so does the whole text, with two bytes for a character. */
const copies = 4;

/** What a review takes at most, in bytes. Above `maxParts` nothing is built of it. */
function memoryOf(length: number, parts: number): number {
  return copies * length + (parts > maxParts ? 0 : bytesPerPart * parts);
}

/**
 * Reads the whole body. Until the response, memory is reserved for all that is made of it: first for the most that a
 * body of its declared length can hold, then for what it does hold.
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  room: ReviewMemoryLimit,
  signal: AbortSignal,
): Promise<Body> {
  const length = Number(request.headers['content-length'] ?? largestReview);
  if (length > largestReview) return { kind: 'too long' };
  // before it waits: what arrives meanwhile is kept
  joinSmallPieces(request);
  limitPieces(request);
  const reserved = memoryOf(length, Math.min(length, maxParts));
  const leave = await room.enter(reserved, signal);
  if (leave === undefined) return { kind: 'no room' };
  if (response.closed) leave();
  else response.once('close', () => leave());
  const patience = setInterval(() => {
    // data that has arrived meanwhile is read first
    if (room.full) setImmediate(() => request.complete || request.destroy());
  }, patienceMs);
  try {
    const body = await filled(Buffer.allocUnsafeSlow(length), request);
    if (body.kind === 'whole') leave(reserved - memoryOf(length, body.size.parts));
    return body;
  } catch {
    return { kind: 'broken off' };
  } finally {
    clearInterval(patience);
  }
}

/** Copies the chunks into one buffer: kept chunks cost an object each, however small the caller makes them. */
async function filled(bytes: Buffer, request: IncomingMessage): Promise<Body> {
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (size + chunk.length > bytes.length) return { kind: 'too long' };
    size += chunk.copy(bytes, size);
  }
  const filled = bytes.subarray(0, size);
  return { kind: 'whole', bytes: filled, size: sizeOfJson(filled) };
}

/** Returns so much of the reserved memory; default: all. */
export type Leave = (bytes?: number) => void;

/**
 * Memory for reviews that are being read or decided. Reviews that do not fit wait unread, and the smallest is admitted
 * first, so that a few large reviews, or callers that only announce large ones, do not keep ordinary ones out.
 */
export interface ReviewMemoryLimit {
  /** Whether a review waits. */
  readonly full: boolean;
  /** @returns undefined if the signal was aborted before there was room */
  enter(bytes: number, signal: AbortSignal): Promise<Leave | undefined>;
}

/**
 * @param budget a larger review is never admitted
 * @param onWait called when one waits
 */
export function createReviewMemoryLimit(budget: Budget, onWait: () => void = () => {}): ReviewMemoryLimit {
  return {
    get full() {
      return budget.waiting > 0;
    },
    async enter(bytes, signal) {
      if (signal.aborted) return undefined;
      const share = budget.ask(bytes);
      if (share.waits) onWait();
      signal.addEventListener('abort', share.giveUp, { once: true });
      const granted = await share.granted;
      signal.removeEventListener('abort', share.giveUp);
      return granted ? share.release : undefined;
    },
  };
}
