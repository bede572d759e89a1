import { readFileSync } from 'node:fs';

/**
 * The environment that this process was started with, as `KEY=VALUE` bytes: `process.env` would change
 * what is not UTF-8. What has no `=` is no variable and left out: the bytes of a token that was overwritten are
 * such. To be read after the token has been overwritten in it and before the process is no
 * longer dumpable, which takes /proc/self away from an ordinary user; without /proc it is `process.env`.
 */
export function inheritedEnvironment(file = '/proc/self/environ'): readonly Uint8Array[] {
  try {
    const strings = readFileSync(file, 'latin1').split('\0');
    return strings.filter((one) => one.includes('=')).map((one) => Buffer.from(one, 'latin1'));
  } catch {
    return Object.entries(process.env).map(([name, value]) => Buffer.from(`${name}=${value}`));
  }
}
