/**
 * SVC_ORIGINAL_ARGS: arguments separated by commas. `\,` is a comma and `\\` a backslash inside an
 * argument; any other backslash stands for itself. A variable that is not set means no argument, an
 * empty one means one empty argument.
 */

/** The variable's text, or undefined when it is not to be set. */
export function encodeOriginalArgs(args: readonly string[]): string | undefined {
  return args.length === 0 ? undefined : args.map((arg) => arg.replace(/[\\,]/g, '\\$&')).join(',');
}

export function decodeOriginalArgs(text: string | undefined): string[] {
  if (text === undefined) return [];
  const args: string[] = [];
  let arg = '';
  for (const [piece] of text.matchAll(/\\[\\,]|[\s\S]/g)) {
    if (piece !== ',') arg += piece.at(-1);
    else {
      args.push(arg);
      arg = '';
    }
  }
  return [...args, arg];
}
