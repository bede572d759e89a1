import { wordLength } from './switch-word.ts';

const slots = 3;

/** What secrets may grow by at least: with it a region is 200 KiB, little beside the 8 MiB that a process may usually lock. */
const leastGrowth = 64 * 1024;

/** Of what a process may lock: its application maps the region as well, and has locked memory of its own. */
const shareOfLimit = 1 / 4;

/** Bytes of each of the three slots between which generations go round. */
export function slotSize(regionLength: number): number {
  return alignDown((regionLength - wordLength) / slots);
}

/** Where the generation of that number lies. */
export function slotOffset(number: number, regionLength: number): number {
  return (number % slots) * slotSize(regionLength);
}

export interface RegionRoom {
  /** Whether the records are to be replaced in place. */
  readonly spare: boolean;
  /** What the process and its application may lock, in bytes; a smaller one leaves less room for growth. */
  readonly lockLimit?: number;
}

/**
 * Bytes of a region for records of `length` encoded bytes, in whole pages. With `spare` room they may be replaced
 * in place, by records up to twice as long, or 64 KiB longer where the limit admits that; without, the first generation is the only one.
 */
export function regionSize(
  length: number,
  { spare, lockLimit = Number.POSITIVE_INFINITY }: RegionRoom,
  pageSize: number,
): number {
  const admitted = Math.min(length + leastGrowth, (lockLimit * shareOfLimit) / slots);
  const generations = spare ? slots * alignUp(Math.max(2 * length, admitted), wordLength) : length;
  return alignUp(generations + wordLength, pageSize);
}

function alignDown(length: number): number {
  return Math.max(0, Math.floor(length / wordLength) * wordLength);
}

function alignUp(length: number, multiple: number): number {
  return Math.ceil(length / multiple) * multiple;
}
