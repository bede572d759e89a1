const nanoseconds: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n, // U+00B5, micro sign
  μs: 1_000n, // U+03BC, Greek letter mu
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};
const limit = 1n << 63n;
const term = /(\d*)(?:\.(\d*))?([^\d.]+)/y;

export class DurationError extends Error {
  override readonly name = 'DurationError';
}

/**
 * Parses a Go duration such as `1h30m`, `1.5h` or `300ms` to milliseconds, with fractions down to nanoseconds. Accepts
 * exactly what Go's time.ParseDuration accepts.
 * @throws DurationError
 */
export function parseDuration(text: string): number {
  return Number(parseNanoseconds(text)) / 1e6;
}

/** The exact duration in nanoseconds, within the range of a signed 64-bit integer. */
export function parseNanoseconds(text: string): bigint {
  const sign = /^[+-]/.exec(text)?.[0] ?? '';
  const terms = text.slice(sign.length);
  if (terms === '0') return 0n;
  const total = sumOfTerms(terms);
  if (sign === '-') return -total;
  if (total === limit) throw new DurationError('out of range');
  return total;
}

function sumOfTerms(text: string): bigint {
  if (text === '') throw new DurationError('empty');
  let total = 0n;
  term.lastIndex = 0;
  while (term.lastIndex < text.length) {
    const match = term.exec(text);
    if (match === null) throw new DurationError('not a number with a unit');
    total = within(total + oneTerm(match[1] ?? '', match[2] ?? '', match[3] ?? ''));
  }
  return total;
}

function oneTerm(whole: string, fraction: string, unitName: string): bigint {
  const unit = Object.hasOwn(nanoseconds, unitName) ? nanoseconds[unitName] : undefined;
  if (unit === undefined) throw new DurationError('unknown unit');
  if (whole === '' && fraction === '') throw new DurationError('not a number with a unit');
  return within(within(BigInt(whole)) * unit + fractionOf(fraction, unit));
}

/**
 * Like Go, multiplies the fraction as a float64 and ignores digits beyond 63 bits, for equal results to the nanosecond.
 */
function fractionOf(digits: string, unit: bigint): bigint {
  let value = 0n;
  let scale = 1;
  for (const digit of digits) {
    const next = value * 10n + BigInt(digit);
    if (next > limit) break;
    value = next;
    scale *= 10;
  }
  return BigInt(Math.trunc(Number(value) * (Number(unit) / scale)));
}

function within(value: bigint): bigint {
  if (value > limit) throw new DurationError('out of range');
  return value;
}

/** Formats milliseconds like Go's Duration.String: `1h30m0s`, `1.5s`, `300ms`, `0s`. */
export function formatDuration(milliseconds: number): string {
  return formatNanoseconds(BigInt(Math.round(milliseconds * 1e6)));
}

export function formatNanoseconds(value: bigint): string {
  if (value < 0n) return `-${formatNanoseconds(-value)}`;
  if (value === 0n) return '0s';
  if (value < 1_000n) return `${value}ns`;
  if (value < 1_000_000n) return `${decimal(value, 1_000n)}µs`;
  if (value < 1_000_000_000n) return `${decimal(value, 1_000_000n)}ms`;
  return clock(value);
}

function clock(value: bigint): string {
  const minutes = value / 60_000_000_000n;
  const seconds = `${decimal(value % 60_000_000_000n, 1_000_000_000n)}s`;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

function decimal(value: bigint, unit: bigint): string {
  const rest = value % unit;
  if (rest === 0n) return String(value / unit);
  const digits = String(unit + rest)
    .slice(1)
    .replace(/0+$/, '');
  return `${value / unit}.${digits}`;
}

const units = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 } as const;
const shape = /^(0|[1-9]\d*)(KiB|MiB|GiB|TiB)?$/;

export class ByteSizeError extends Error {
  override readonly name = 'ByteSizeError';
}

/**
 * Bytes of `16MiB`, `64KiB`, `5GiB`, `1TiB` or a plain number of bytes. Only integers, without blanks or decimal units.
 * @throws ByteSizeError
 */
export function parseByteSize(text: string): number {
  const match = shape.exec(text);
  if (match === null) throw new ByteSizeError('not a whole number of bytes, KiB, MiB, GiB or TiB');
  const unit = match[2] as keyof typeof units | undefined;
  const bytes = Number(match[1]) * (unit === undefined ? 1 : units[unit]);
  if (!Number.isSafeInteger(bytes)) throw new ByteSizeError('too large');
  return bytes;
}

/** In the largest unit that divides the size evenly: `16MiB`, `1000`. */
export function formatByteSize(bytes: number): string {
  const unit = (['TiB', 'GiB', 'MiB', 'KiB'] as const).find((name) => bytes % units[name] === 0);
  return bytes === 0 || unit === undefined ? String(bytes) : `${bytes / units[unit]}${unit}`;
}

/** `1 node`, `3 nodes`; pass an irregular plural. */
export function counted(count: number, one: string, several: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : several}`;
}
