const mostMistakes = 50;
const longestMistake = 2_000;

/** What a person can read of mistakes: a pod can have as many and as long ones as whoever writes it likes. */
export function boundedMistakes(mistakes: readonly string[]): readonly string[] {
  const told = mistakes.slice(0, mostMistakes).map(clipped);
  const left = mistakes.length - told.length;
  return left > 0 ? [...told, `and ${left} more`] : told;
}

function clipped(text: string): string {
  return text.length <= longestMistake ? text : `${text.slice(0, longestMistake)}…`;
}
