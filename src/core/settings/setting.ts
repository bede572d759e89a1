import { isIPv4 } from 'node:net';
import { formatByteSize, formatDuration, parseByteSize, parseDuration } from '../units.ts';

/** Thrown by a parser: says what the value should be, never what it was (it may be a secret). */
export class SettingMistake extends Error {
  override readonly name = 'SettingMistake';
}

/**
 * One configuration value of a component. The order of precedence is
 * flag, variable, file (`--config`), default.
 */
export interface Setting<T> {
  /** Environment variable, the name used in messages. */
  readonly variable: string;
  /** Long flag without the dashes; absent for what must not stand on a command line. */
  readonly flag?: string;
  readonly summary: string;
  /** Turns the text into a value or throws SettingMistake. */
  readonly parse: (text: string) => T;
  /** What the value should be, as a phrase: "a Go duration such as 30s". */
  readonly expects: string;
  /** The value in help and completion: `json|text` where few are possible, `<path>` for a file or folder. */
  readonly helpValue?: string;
  /** Text parsed when nothing is given. Without it the setting is optional (undefined). */
  readonly fallback?: string;
  readonly required?: boolean;
  /** Never shown, not even in part. */
  readonly secret?: boolean;
  /** A flag without a value. */
  readonly switch?: boolean;
  /** The empty text is a value of its own; elsewhere an empty variable or file entry counts as not given. */
  readonly admitsEmpty?: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: a record of settings of different value types
export type Settings = Readonly<Record<string, Setting<any>>>;

/** A setting with a fallback or `required` always has a value; the others may be undefined. */
export type Resolved<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T>
    ? S[K] extends { fallback: string } | { required: true }
      ? T
      : T | undefined
    : never;
};

/** The part of a setting that reads its text: spread one into a declaration. */
export type Parser<T> = Pick<Setting<T>, 'parse' | 'expects' | 'helpValue' | 'admitsEmpty'>;

/** The longest delay that a Node timer keeps; beyond it a timer fires at once. */
const longestTimer = 2 ** 31 - 1;

export function text(expects = 'a text'): Parser<string> {
  return matching(/^[^\0]+$/s, expects);
}

export function matching(shape: RegExp, expects: string): Parser<string> {
  return { expects, parse: (given) => (shape.test(given) ? given : invalidValue(expects)) };
}

export function enumeration<const T extends string>(...allowed: readonly T[]): Parser<T> {
  const expects = allowed.length === 2 ? allowed.join(' or ') : `one of ${allowed.join(', ')}`;
  const parse = (given: string) => allowed.find((one) => one === given) ?? invalidValue(expects);
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
      /^-?(0|[1-9]\d{0,15})$/.test(given) ? inRange(Number(given), min, max, expects) : invalidValue(expects),
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

/** Items separated by commas, blanks around them dropped; empty items are an error. */
export function list<T>(item: Parser<T>): Parser<readonly T[]> {
  return {
    expects: `a list, separated by commas, each item ${item.expects}`,
    parse: (given) => given.split(',').map((one) => item.parse(one.trim())),
  };
}

export function invalidValue(expects: string): never {
  throw new SettingMistake(expects);
}

function attempt<T>(parse: (given: string) => T, given: string, expects: string): T {
  try {
    return parse(given);
  } catch {
    return invalidValue(expects);
  }
}

function inRange(value: number, min: number, max: number, expects: string): number {
  return value >= min && value <= max ? value : invalidValue(expects);
}

/** `Address to listen on [SVC_PROXY_LISTEN, default 127.0.0.1:8190]`, as help shows a setting. */
export function settingSummary({ summary, variable, fallback, required, secret }: Setting<unknown>): string {
  const shown = fallback !== undefined && fallback !== '' && !secret ? `default ${fallback}` : undefined;
  const facts = [variable, required ? 'required' : undefined, shown].filter((fact) => fact !== undefined);
  return `${summary} [${facts.join(', ')}]`;
}

/**
 * An absolute http or https URL without user name, password, query or fragment.
 * Credentials in a URL end up in logs, so they are refused.
 */
export function httpUrl(example: string): Parser<URL> {
  const expects = `an http:// or https:// URL such as ${example}, without credentials, query or fragment`;
  return { expects, parse: (text) => parseHttpUrl(text) ?? invalidValue(expects) };
}

function parseHttpUrl(text: string): URL | undefined {
  const plain = /^https?:\/\/[^\s/?#@\\]+(\/[^\s?#\\]*)?$/i.test(text);
  return plain && URL.canParse(text) ? new URL(text) : undefined;
}

/** The error for an address to which a token or secret would travel in the clear; it begins with the setting's name. */
export function unencrypted(place: string, url: URL | undefined): string | undefined {
  return url?.protocol === 'http:' && !isLoopback(url.hostname)
    ? `${place}: must be https:// (http:// is accepted for loopback addresses only)`
    : undefined;
}

/** True for `localhost`, 127.0.0.0/8 and `::1` only, brackets allowed; a name that merely resolves there is not trusted. */
export function isLoopback(host: string | undefined): boolean {
  if (host === undefined) return false;
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  return bare === 'localhost' || bare === '::1' || (isIPv4(bare) && bare.startsWith('127.'));
}

/**
 * The text of SVC_ORIGINAL_ARGS, or undefined when it is not to be set: arguments separated by commas. `\,` is a comma and
 * `\\` a backslash inside an argument; any other backslash stands for itself. An empty text is one empty argument.
 */
export function encodeOriginalArgs(args: readonly string[]): string | undefined {
  return args.length === 0 ? undefined : args.map((arg) => arg.replace(/[\\,]/g, '\\$&')).join(',');
}

/** The arguments of such a text; none where the variable is not set. */
export function decodeOriginalArgs(text: string | undefined): string[] {
  if (text === undefined) return [];
  const args: string[] = [];
  let arg = '';
  for (const [piece] of text.matchAll(/\\[\\,]|[\s\S]/g)) {
    if (piece !== ',') arg += piece.at(-1);
    else {
      args.push(arg);
      arg = '';
    }
  }
  return [...args, arg];
}
