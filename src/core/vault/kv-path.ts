import { list, mistake, type Parser } from '../settings/parsers.ts';
import { trimSlashes } from './trim-slashes.ts';

/** A KV path such as `secret/app` or `secret/data/app`, without slashes at its ends. */
export function kvPath(): Parser<string> {
  const expects = 'a KV path such as secret/app';
  const parse = (given: string) => {
    const bare = trimSlashes(given);
    const segments = bare.split('/');
    const usable = segments.every((one) => /^[^\p{C}?#%\\]+$/u.test(one) && one !== '.' && one !== '..');
    return usable && segments.length > 1 ? bare : mistake(expects);
  };
  return { expects, parse };
}

/** Several, separated by commas. */
export const kvPaths = (): Parser<readonly string[]> => list(kvPath());
