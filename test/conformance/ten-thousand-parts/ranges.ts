import { partCount, starts, whole } from './large-upload.ts';

export interface Range {
  readonly what: string;
  /** As in `Range: bytes=…`. */
  readonly bytes: string;
  /** First byte, and the one behind the last. */
  readonly from: number;
  readonly to: number;
}

const at = (partNumber: number): number => starts[partNumber - 1] ?? 0;
const size = whole.length;

function between(what: string, from: number, to: number): Range {
  return { what, bytes: `${from}-${to - 1}`, from, to };
}

/** Ranges that lie in, on and across the borders of parts. */
export const ranges: readonly Range[] = [
  between('the first byte', 0, 1),
  between('inside one part', at(5000) + 10, at(5000) + 500),
  between('exactly one part', at(77), at(78)),
  between('the last byte of a part and the first of the next', at(1001) - 1, at(1001) + 1),
  between('the middle of three parts', at(9997) + 5, at(9999) + 5),
  between('fifteen hundred parts', at(4200) + 1, at(5700) - 1),
  { what: 'the end, open', bytes: `${at(partCount) - 1}-`, from: at(partCount) - 1, to: size },
  { what: 'the last 5,000 bytes', bytes: `-5000`, from: size - 5000, to: size },
  { what: 'beyond the end, clipped', bytes: `${size - 3}-${size + 1000}`, from: size - 3, to: size },
];

/** The one whose cost is counted. */
export const oneRange = ranges[1] as Range;
