import type { Tier } from '../../core/protection/tier.ts';
import { integer, mistake, type Parser } from '../../core/settings/parsers.ts';

/** `sun_path` without its NUL, and without the suffix under which a socket is made before it is put in place. */
const longestSocketPath = 90;

export function socketPath(): Parser<string> {
  const expects = `an absolute path of at most ${longestSocketPath} bytes`;
  const parse = (given: string) =>
    given.startsWith('/') && Buffer.byteLength(given) <= longestSocketPath ? given : mistake(expects);
  return { expects, parse };
}

/** A tier that programs can have. */
export function tier(): Parser<Tier> {
  const { parse } = integer(1, 3);
  const expects = '1, 2 or 3';
  return { expects, parse: (given) => parse(given) as Tier };
}
