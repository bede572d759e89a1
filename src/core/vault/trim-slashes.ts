/** Without slashes at its ends; in linear time, which `\/+$` is not for slashes in the middle. */
export function trimSlashes(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && text[from] === '/') from++;
  while (to > from && text[to - 1] === '/') to--;
  return text.slice(from, to);
}
