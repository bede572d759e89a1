import { formatByteSize, parseByteSize } from '../byte-size.ts';
import { formatDuration, parseDuration } from '../duration.ts';
import { type Setting, SettingMistake } from './setting.ts';

/** The part of a setting that reads its text: spread one into a declaration. */
export type Parser<T> = Pick<Setting<T>, 'parse' | 'expects' | 'helpValue' | 'admitsEmpty'>;

/** The longest delay that a Node timer keeps; beyond it a timer fires at once. */
const longestTimer = 2 ** 31 - 1;

export function text(expects = 'a text'): Parser<string> {
  return matching(/^[^\0]+$/s, expects);
}

export function matching(shape: RegExp, expects: string): Parser<string> {
  return { expects, parse: (given) => (shape.test(given) ? given : mistake(expects)) };
}

export function enumeration<const T extends string>(...allowed: readonly T[]): Parser<T> {
  const expects = allowed.length === 2 ? allowed.join(' or ') : `one of ${allowed.join(', ')}`;
  const parse = (given: string) => allowed.find((one) => one === given) ?? mistake(expects);
  return { expects, helpValue: allowed.join('|'), parse };
}

/** `true` or `false` and nothing else: `False`, `0` or `no` must not be taken for the other. */
export function boolean(): Parser<boolean> {
  const words = enumeration('true', 'false');
  return { ...words, parse: (given) => words.parse(given) === 'true' };
}

export function integer(min: number, max: number): Parser<number> {
  const expects = `a whole number from ${min} to ${max}`;
  return {
    expects,
    parse: (given) =>
      /^-?(0|[1-9]\d{0,15})$/.test(given) ? inRange(Number(given), min, max, expects) : mistake(expects),
  };
}

/** Milliseconds. The upper bound keeps the value usable as a timer. */
export function duration(min = 0, max = longestTimer): Parser<number> {
  const upper = max === longestTimer ? '' : ` to ${formatDuration(max)}`;
  const range = min === 0 && upper === '' ? '' : `, from ${formatDuration(min)}${upper}`;
  const expects = `a duration such as 30s, 5m or 1h30m${range}`;
  return { expects, parse: (given) => inRange(attempt(parseDuration, given, expects), min, max, expects) };
}

/** Bytes. */
export function byteSize(min = 0, max = Number.MAX_SAFE_INTEGER): Parser<number> {
  const upper = max === Number.MAX_SAFE_INTEGER ? '' : ` to ${formatByteSize(max)}`;
  const range = min === 0 && upper === '' ? '' : `, from ${formatByteSize(min)}${upper}`;
  const expects = `a size such as 64KiB, 16MiB or a number of bytes${range}`;
  return { expects, parse: (given) => inRange(attempt(parseByteSize, given, expects), min, max, expects) };
}

/** A file or folder name, taken as it is. */
export function path(expects = 'a path'): Parser<string> {
  return { ...text(expects), helpValue: '<path>' };
}

/** Items separated by commas, blanks around them dropped; empty items are a mistake. */
export function list<T>(item: Parser<T>): Parser<readonly T[]> {
  return {
    expects: `a list, separated by commas, each item ${item.expects}`,
    parse: (given) => given.split(',').map((one) => item.parse(one.trim())),
  };
}

export function mistake(expects: string): never {
  throw new SettingMistake(expects);
}

function attempt<T>(parse: (given: string) => T, given: string, expects: string): T {
  try {
    return parse(given);
  } catch {
    return mistake(expects);
  }
}

function inRange(value: number, min: number, max: number, expects: string): number {
  return value >= min && value <= max ? value : mistake(expects);
}
