import type { Socket } from 'node:net';
import type { Limits } from './decide.ts';

const defaultTimeoutMs = 10_000;
/** Kept for what comes after the lookup of images. */
const reservedMs = 1_000;
/** A lookup that came to nothing has its own reason, which is worth more than that of a review that is cut off. */
const forReasonMs = 500;

/** For how long somebody waits for the answer to a review. */
export interface ReviewTime {
  /** Aborted when nobody does any more. */
  readonly signal: AbortSignal;
  /** What is left of it for what may take long. */
  left(): Limits;
  /** The review has been answered. */
  end(): void;
}

/**
 * The caller gives up after its time; so do we, a little earlier, and with a reason.
 * @param mostMs as the webhook is configured: a caller that names a longer time is not waited for any longer
 */
export function startReviewTime(url: URL, socket: Socket, mostMs = defaultTimeoutMs): ReviewTime {
  const timeoutMs = Math.max(reservedMs, Math.min(timeoutOf(url), mostMs) - reservedMs);
  const deadline = performance.now() + timeoutMs;
  const ending = new AbortController();
  const { signal } = ending;
  const hungUp = () => ending.abort(new Error('The API server has hung up.'));
  socket.once('close', hungUp);
  const mostOfAll = timeoutMs + forReasonMs;
  const timer = setTimeout(
    () => ending.abort(new Error(`The review was not decided within ${mostOfAll} ms.`)),
    mostOfAll,
  );
  return {
    signal,
    left: () => ({ timeoutMs: Math.max(0, deadline - performance.now()), signal }),
    end() {
      clearTimeout(timer);
      socket.off('close', hungUp);
    },
  };
}

/** The API server adds `?timeout=10s`, in whole seconds. */
function timeoutOf(url: URL): number {
  const seconds = Number(/^(\d{1,2})s$/.exec(url.searchParams.get('timeout') ?? '')?.[1]);
  return seconds > 0 ? seconds * 1_000 : defaultTimeoutMs;
}
