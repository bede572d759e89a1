const longest = 500;

/** Names in it can be long and many; a report has room for so much. */
export function clipped(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`;
}
