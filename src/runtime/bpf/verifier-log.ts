const mostLines = 8;
const longestLine = 240;

/** Counts and register states that follow the reason. */
const noise = /^(processed \d+ insns|verification time|stack depth|max_states|peak_states|mark_read|\s*$)/;

/**
 * What to show of what the kernel's verifier said: the last lines, which hold the reason, without its statistics.
 * @param log as the kernel left it, up to a NUL
 */
export function reasonLines(log: string): string[] {
  return log
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => !noise.test(line))
    .slice(-mostLines)
    .map((line) => (line.length > longestLine ? `${line.slice(0, longestLine)}…` : line));
}
