/**
 * The candidate that a mistyped word most likely means, or undefined when none is near.
 * @param farthest letters that may differ
 */
export function nearest(
  word: string,
  candidates: readonly string[],
  farthest = Math.max(1, Math.floor(word.length / 3)),
): string | undefined {
  const [best] = candidates
    // a distance is no less than this difference, which costs nothing however long the word is
    .filter((candidate) => Math.abs(candidate.length - word.length) <= farthest)
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .sort((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= farthest ? best.candidate : undefined;
}

/** ` (did you mean …?)` or nothing. */
export function hint(word: string, candidates: readonly string[]): string {
  const guess = nearest(word, candidates);
  return guess === undefined ? '' : ` (did you mean ${guess}?)`;
}

/** Levenshtein's distance, row by row. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (letter === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
