import { readFileSync } from 'node:fs';
import { nameOf } from './name-of.ts';

/** Options of Node that are the application's: the wrapper's own Node must not load what they name, before it has the token. */
export const nodeOptions = 'NODE_OPTIONS';

/** Where bin/svc-wrapper.js has put them; empty where there were none. The kernel takes 127 bytes of its first line. */
const keptNodeOptions = 'SVC_NODE_OPTIONS';

/**
 * The environment that this process was started with, as `KEY=VALUE` bytes: `process.env` would change
 * what is not UTF-8. What has no `=` is no variable and left out: the bytes of a token that was overwritten are
 * such. Options of Node have their own name again. To be read after the token has been overwritten in it and before the process is no
 * longer dumpable, which takes /proc/self away from an ordinary user; without /proc it is `process.env`.
 */
export function inheritedEnvironment(file = '/proc/self/environ'): readonly Uint8Array[] {
  try {
    const strings = readFileSync(file, 'latin1').split('\0');
    return asBefore(strings.filter((one) => one.includes('=')).map((one) => Buffer.from(one, 'latin1')));
  } catch {
    return asBefore(Object.entries(process.env).map(([name, value]) => Buffer.from(`${name}=${value}`)));
  }
}

/** For a wrapper that takes this process's place, as bin/svc-wrapper.js would start it. */
export function withoutNodeOptions(entries: readonly Uint8Array[]): readonly Uint8Array[] {
  return entries.map((entry) => renamed(entry, nodeOptions, keptNodeOptions));
}

function asBefore(entries: readonly Uint8Array[]): readonly Uint8Array[] {
  const empty = `${keptNodeOptions}=`.length;
  const given = entries.filter((entry) => nameOf(entry) !== keptNodeOptions || entry.length > empty);
  const twice = given.some((entry) => nameOf(entry) === nodeOptions);
  if (twice) return given.filter((entry) => nameOf(entry) !== keptNodeOptions);
  return given.map((entry) => renamed(entry, keptNodeOptions, nodeOptions));
}

function renamed(entry: Uint8Array, from: string, to: string): Uint8Array {
  return nameOf(entry) === from ? Buffer.concat([Buffer.from(to), entry.subarray(from.length)]) : entry;
}
