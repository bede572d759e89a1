import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ReviewRoom } from './review-room.ts';

/** A pod has at most 1.5 MiB in etcd; the API server sends it once, as JSON. */
export const largestReview = 4 * 1024 * 1024;

/** A body that has not come by then, while others wait for its room, is broken off. */
const patienceMs = 3_000;

export type Body =
  | { readonly kind: 'text'; readonly text: string }
  /** It is longer than `largestReview`. */
  | { readonly kind: 'too long' }
  /** There was no room for it in time. */
  | { readonly kind: 'no room' }
  /** The caller has gone, or was too slow. */
  | { readonly kind: 'broken off' };

/** The whole body. It takes its room, by the length that it is said to have, until it is answered. */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  room: ReviewRoom,
  signal: AbortSignal,
): Promise<Body> {
  const length = Number(request.headers['content-length'] ?? largestReview);
  if (length > largestReview) return { kind: 'too long' };
  const leave = await room.enter(length, signal);
  if (leave === undefined) return { kind: 'no room' };
  if (response.closed) leave();
  else response.once('close', leave);
  const patience = setInterval(() => {
    // what has come meanwhile is read first
    if (room.full) setImmediate(() => request.complete || request.destroy());
  }, patienceMs);
  try {
    return await filled(Buffer.allocUnsafeSlow(length), request);
  } catch {
    return { kind: 'broken off' };
  } finally {
    clearInterval(patience);
  }
}

/** Copies: a chunk is an object for each piece that the caller has cut its body into. */
async function filled(bytes: Buffer, request: IncomingMessage): Promise<Body> {
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    if (size + chunk.length > bytes.length) return { kind: 'too long' };
    size += chunk.copy(bytes, size);
  }
  return { kind: 'text', text: bytes.toString('utf8', 0, size) };
}
