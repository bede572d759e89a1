import type { Parser } from '../../settings/parsers.ts';
import { wrongValue } from '../../settings/wrong-value.ts';

/** A value, or the mistakes that are in the way. */
export type Reading<T> =
  | { readonly value: T; readonly mistakes?: undefined }
  | { readonly mistakes: readonly string[] };

export function readText<T>(place: string, text: string, parser: Parser<T>): Reading<T> {
  try {
    return { value: parser.parse(text) };
  } catch (error) {
    return { mistakes: [wrongValue(parser, { place, text }, error)] };
  }
}

/** Every item by itself; a mistake names its index. */
export function readItems<T>(
  place: string,
  texts: readonly string[],
  parser: Parser<T>,
): Reading<readonly T[]> {
  return together(texts.map((text, index) => readText(`${place}[${index}]`, text, parser)));
}

/** All values, or all mistakes. */
export function together<T>(readings: readonly Reading<T>[]): Reading<readonly T[]> {
  const mistakes = readings.flatMap((one) => one.mistakes ?? []);
  const values = readings.flatMap((one) => ('value' in one ? [one.value] : []));
  return mistakes.length > 0 ? { mistakes } : { value: values };
}
