import { wordLength } from './switch-word.ts';

const slots = 3;

/** Bytes of each of the three slots between which generations go round. */
export function slotSize(regionLength: number): number {
  return alignDown((regionLength - wordLength) / slots);
}

/** Where the generation of that number lies. */
export function slotOffset(number: number, regionLength: number): number {
  return (number % slots) * slotSize(regionLength);
}

/**
 * Bytes of a region for records of `length` encoded bytes, in whole pages. With `spare` room they may be replaced
 * in place, by records up to twice as long; without, the first generation is the only one.
 */
export function regionSize(length: number, { spare }: { spare: boolean }, pageSize: number): number {
  const generations = spare ? slots * alignUp(2 * length, wordLength) : length;
  return alignUp(generations + wordLength, pageSize);
}

function alignDown(length: number): number {
  return Math.max(0, Math.floor(length / wordLength) * wordLength);
}

function alignUp(length: number, multiple: number): number {
  return Math.ceil(length / multiple) * multiple;
}
