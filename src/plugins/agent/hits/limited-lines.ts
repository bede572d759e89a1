import type { Clock } from './clock.ts';

const secondMs = 1_000;

/**
 * Lets `most` lines of a second pass, and at its end says how many did not.
 * @returns how many of the lines that are asked for may be written now
 */
export function limitedLines(
  most: number,
  clock: Pick<Clock, 'after'>,
  more: (count: number) => void,
): (wanted: number) => number {
  let asked: number | undefined;
  const endSecond = () => {
    const held = (asked ?? 0) - most;
    asked = undefined;
    if (held > 0) more(held);
  };
  return (wanted) => {
    if (asked === undefined) {
      asked = 0;
      clock.after(secondMs, endSecond);
    }
    const room = Math.max(0, most - asked);
    asked += wanted;
    return Math.min(room, wanted);
  };
}
