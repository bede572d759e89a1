import { matching, mistake, type Parser } from '../../core/settings/parsers.ts';

/** White space at the ends is dropped: files and templates like to add a line end. */
export function token(): Parser<string> {
  const shape = matching(/^[\x21-\x7e]+$/, 'a token of printable characters without blanks');
  return { ...shape, parse: (given) => shape.parse(given.trim()) };
}

/** A mount's path without slashes at its ends, such as `auth/kubernetes`. */
export function mountPath(prefix: string): Parser<string> {
  const expects = `a path below ${prefix}, such as ${prefix}kubernetes`;
  const parse = (given: string) => {
    const bare = given.replace(/^\/+|\/+$/g, '');
    const segments = bare.split('/');
    const usable = segments.every((one) => /^[\w.-]+$/.test(one) && !/^\.+$/.test(one));
    return usable && bare.startsWith(prefix) && segments.length > 1 ? bare : mistake(expects);
  };
  return { expects, parse };
}
