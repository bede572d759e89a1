import { timingSafeEqual } from 'node:crypto';

/** Compares in constant time; texts of different length differ. */
export function sameHex(expected: string, claimed: string): boolean {
  const left = Buffer.from(expected, 'latin1');
  const right = Buffer.from(claimed, 'latin1');
  return left.length === right.length && timingSafeEqual(left, right);
}
