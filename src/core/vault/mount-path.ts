import { mistake, type Parser } from '../settings/parsers.ts';
import { trimSlashes } from './trim-slashes.ts';

/** A mount's path without slashes at its ends, such as `auth/kubernetes`. */
export function mountPath(prefix: string): Parser<string> {
  const expects = `a path below ${prefix}, such as ${prefix}kubernetes`;
  const parse = (given: string) => {
    const bare = trimSlashes(given);
    const segments = bare.split('/');
    const usable = segments.every((one) => /^[\w.-]+$/.test(one) && !/^\.+$/.test(one));
    return usable && bare.startsWith(prefix) && segments.length > 1 ? bare : mistake(expects);
  };
  return { expects, parse };
}
