/** Of the memory for reviews; who was let in gives it back once. */
export type Leave = () => void;

/**
 * Memory for reviews that are read or decided upon, by the length of their bodies. Those that do not fit wait, unread,
 * and the smallest is let in first: a few large ones, or somebody who only claims to send some, keep no usual one out.
 */
export interface ReviewRoom {
  /** Whether somebody waits. */
  readonly full: boolean;
  /** @returns undefined where the signal was aborted before there was room */
  enter(bytes: number, signal: AbortSignal): Promise<Leave | undefined>;
}

interface Waiting {
  readonly bytes: number;
  readonly letIn: () => void;
}

/** @param most bytes; what is larger by itself is never let in */
export function createReviewRoom(most: number): ReviewRoom {
  const waiting = new Set<Waiting>();
  let free = most;
  const letIn = () => {
    for (let next = smallestOf(waiting); next !== undefined; next = smallestOf(waiting)) {
      if (next.bytes > free) return;
      waiting.delete(next);
      free -= next.bytes;
      next.letIn();
    }
  };
  const leaveOnce = (bytes: number): Leave => {
    let held = bytes;
    return () => {
      free += held;
      held = 0;
      letIn();
    };
  };
  return {
    get full() {
      return waiting.size > 0;
    },
    enter(bytes, signal) {
      return new Promise((resolve) => {
        const giveUp = () => {
          waiting.delete(one);
          resolve(undefined);
        };
        const one = {
          bytes,
          letIn() {
            signal.removeEventListener('abort', giveUp);
            resolve(leaveOnce(bytes));
          },
        };
        if (signal.aborted) return resolve(undefined);
        waiting.add(one);
        signal.addEventListener('abort', giveUp, { once: true });
        letIn();
      });
    },
  };
}

/** Of several as small, the one that has waited longest. */
function smallestOf(waiting: ReadonlySet<Waiting>): Waiting | undefined {
  let smallest: Waiting | undefined;
  for (const one of waiting) if (smallest === undefined || one.bytes < smallest.bytes) smallest = one;
  return smallest;
}
