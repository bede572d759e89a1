import { readFileSync } from 'node:fs';

/**
 * The environment that this process was started with, as `KEY=VALUE` bytes: `process.env` would change
 * what is not UTF-8. To be read after the token has been overwritten in it and before the process is no
 * longer dumpable, which takes /proc/self away from an ordinary user; without /proc it is `process.env`.
 */
export function inheritedEnvironment(file = '/proc/self/environ'): readonly Uint8Array[] {
  try {
    return entriesOf(readFileSync(file));
  } catch {
    return Object.entries(process.env).map(([name, value]) => Buffer.from(`${name}=${value}`));
  }
}

/** The strings of a block in which a NUL ends each. */
export function entriesOf(block: Uint8Array): readonly Uint8Array[] {
  const entries: Uint8Array[] = [];
  for (let start = 0; start < block.length; ) {
    const nul = block.indexOf(0, start);
    const end = nul === -1 ? block.length : nul;
    if (end > start) entries.push(block.subarray(start, end));
    start = end + 1;
  }
  return entries;
}
