const usual: ReadonlyMap<string, string> = new Map([
  ...['1', 't', 'true'].map((text) => [text, 'true'] as const),
  ...['0', 'f', 'false'].map((text) => [text, 'false'] as const),
]);

/**
 * Flags as `name=value`, of each name the last one, in words of a command line or whole lines of a shell. A switch
 * has the value `true` or `false`, however that was written.
 */
export function flagsIn(args: readonly string[]): ReadonlySet<string> {
  const words = args.flatMap((arg) => arg.trim().split(/\s+/));
  const flags = new Map<string, string>();
  words.forEach((word, index) => {
    const [, name, value] = /^--([\w-]+)(?:=["']?([^"']*))?/.exec(word) ?? [];
    if (name !== undefined) flags.set(name, value ?? valueBehind(words[index + 1]));
  });
  return new Set([...flags].map(([name, value]) => `${name}=${usual.get(value.toLowerCase()) ?? value}`));
}

/** What follows is the value, unless it is another flag or nothing. */
const valueBehind = (next = '-') => (next.startsWith('-') ? 'true' : next);
