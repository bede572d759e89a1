/** How many milliseconds one caller may block all other work. */
const sliceMs = 10;

/** Resolves at the caller's turn: one caller per turn of the event loop, in the order of the calls. */
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
 * Runs the steps, and yields to other callers every few milliseconds.
 * @param nextTurn shared by callers that take turns with each other
 * @param check called after each yield; an error that it throws ends the work
 * @returns the return value of `steps`
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
