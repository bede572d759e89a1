import { isIPv4 } from 'node:net';
import { formatByteSize, formatDuration, parseByteSize, parseDuration } from '../units.ts';

/** Thrown by a parser: states what the value should be, never what it was, since that may be a secret. */
export class SettingMistake extends Error {
  override readonly name = 'SettingMistake';
}

/** One configuration value of a component. Precedence: flag, variable, file (`--config`), default. */
export interface Setting<T> {
  /** Environment variable; also names the setting in messages. */
  readonly variable: string;
  /** Long flag without dashes; absent for values that must not appear on a command line. */
  readonly flag?: string;
  readonly summary: string;
  /** Turns the text into a value or throws SettingMistake. */
  readonly parse: (text: string) => T;
  /** What the value should be, as a phrase: "a Go duration such as 30s". */
  readonly expects: string;
  /** Placeholder in help and completion: `json|text` for a few choices, `<path>` for a file or folder. */
  readonly helpValue?: string;
  /** Text to parse if nothing is given. Without it the setting is optional (undefined). */
  readonly fallback?: string;
  readonly required?: boolean;
  /** Never shown, not even in part. */
  readonly secret?: boolean;
  /** A flag without a value. */
  readonly switch?: boolean;
  /** The empty text is a valid value; for other settings an empty variable or file entry counts as not given. */
  readonly admitsEmpty?: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: a record of settings of different value types
export type Settings = Readonly<Record<string, Setting<any>>>;

/** Settings with a fallback or `required` always have a value; the others may be undefined. */
export type Resolved<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T>
    ? S[K] extends { fallback: string } | { required: true }
      ? T
      : T | undefined
    : never;
};

/** The parsing part of a setting, to be spread into a declaration. */
export type Parser<T> = Pick<Setting<T>, 'parse' | 'expects' | 'helpValue' | 'admitsEmpty'>;

/** Maximum delay of a Node timer; with a longer one it fires at once. */
const maxTimerMs = 2 ** 31 - 1;

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

/** Exactly `true` or `false`, so that `False`, `0` or `no` are not mistaken for the opposite. */
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

/** Milliseconds. The upper bound keeps the value valid for timers. */
export function duration(min = 0, max = maxTimerMs): Parser<number> {
  const upper = max === maxTimerMs ? '' : ` to ${formatDuration(max)}`;
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

/** A file or folder name, taken unchanged. */
export function path(expects = 'a path'): Parser<string> {
  return { ...text(expects), helpValue: '<path>' };
}

/** Comma-separated items without surrounding blanks; empty items are errors. */
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

/** A setting's line in help: `Address to listen on [SVC_PROXY_LISTEN, default 127.0.0.1:8190]`. */
export function settingSummary({ summary, variable, fallback, required, secret }: Setting<unknown>): string {
  const shown = fallback !== undefined && fallback !== '' && !secret ? `default ${fallback}` : undefined;
  const facts = [variable, required ? 'required' : undefined, shown].filter((fact) => fact !== undefined);
  return `${summary} [${facts.join(', ')}]`;
}

/**
 * An absolute http or https URL without user name, password, query or fragment. Credentials are rejected, because URLs
 * end up in logs.
 */
export function httpUrl(example: string): Parser<URL> {
  const expects = `an http:// or https:// URL such as ${example}, without credentials, query or fragment`;
  return { expects, parse: (text) => parseHttpUrl(text) ?? invalidValue(expects) };
}

function parseHttpUrl(text: string): URL | undefined {
  const plain = /^https?:\/\/[^\s/?#@\\]+(\/[^\s?#\\]*)?$/i.test(text);
  return plain && URL.canParse(text) ? new URL(text) : undefined;
}

/** Error for an address to which a token or secret would be sent in the clear; begins with the setting's name. */
export function unencrypted(place: string, url: URL | undefined): string | undefined {
  return url?.protocol === 'http:' && !isLoopback(url.hostname)
    ? `${place}: must be https:// (http:// is accepted for loopback addresses only)`
    : undefined;
}

/**
 * True only for `localhost`, 127.0.0.0/8 and `::1`, with or without brackets; a name that resolves there is not
 * trusted.
 */
export function isLoopback(host: string | undefined): boolean {
  if (host === undefined) return false;
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  return bare === 'localhost' || bare === '::1' || (isIPv4(bare) && bare.startsWith('127.'));
}

/**
 * The text for SVC_ORIGINAL_ARGS, or undefined to leave it unset: arguments separated by commas. Inside an argument,
 * `\,` is a comma and `\\` a backslash; any other backslash is literal. An empty text is one empty argument.
 */
export function encodeOriginalArgs(args: readonly string[]): string | undefined {
  return args.length === 0 ? undefined : args.map((arg) => arg.replace(/[\\,]/g, '\\$&')).join(',');
}

/** Decodes SVC_ORIGINAL_ARGS; no arguments if it is not set. */
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
