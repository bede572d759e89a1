/** So long one of them keeps everything else of the agent waiting, in milliseconds. */
const sliceMs = 10;

/** Resolves when it is the caller's turn: one caller in each round of the event loop, in the order in which they came. */
export type NextTurn = () => Promise<void>;

export function createTurns(): NextTurn {
  const waiting: (() => void)[] = [];
  const next = () => {
    waiting.shift()?.();
    if (waiting.length > 0) setImmediate(next);
  };
  return () =>
    new Promise((resolve) => {
      if (waiting.push(resolve) === 1) setImmediate(next);
    });
}

/**
 * Takes steps one after the other, and lets others have their turn every few milliseconds.
 * @param check called after each turn of others; what it throws ends the work
 * @returns what the steps return
 * @throws what a step or `check` throws
 */
export async function takeInTurns<T>(
  steps: Generator<void, T>,
  nextTurn: NextTurn,
  check: () => void,
): Promise<T> {
  for (let begun = performance.now(); ; ) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() - begun < sliceMs) continue;
    await nextTurn();
    check();
    begun = performance.now();
  }
}
