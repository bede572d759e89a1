import { matching, type Parser } from '../../core/settings/parsers.ts';

/** White space at the ends is dropped: files and templates like to add a line end. */
export function token(): Parser<string> {
  const shape = matching(/^[\x21-\x7e]+$/, 'a token of printable characters without blanks');
  return { ...shape, parse: (given) => shape.parse(given.trim()) };
}
