import { exitStatus, SvcError } from '../errors.ts';
import { encodedLength, encodeEntries, type SecretEntry } from './entry.ts';
import { slotOffset, slotSize } from './layout.ts';
import { currentGeneration, indexRecords } from './read-generation.ts';
import { storeWord, wordLength } from './switch-word.ts';

const lastNumber = 0xffffffff;

/**
 * Writes the first generation at the beginning of a region that is all zeros.
 * @throws SvcError SECRET_REGION_TOO_SMALL (exit 71), SECRET_ENTRY_INVALID (exit 78); nothing is written then
 */
export function writeFirstGeneration(region: Uint8Array, entries: readonly SecretEntry[]): void {
  const room = region.length - wordLength;
  if (encodedLength(entries) > room) throw tooSmall(encodedLength(entries), room);
  encodeEntries(region.subarray(0, room), entries);
}

/**
 * Puts new entries in force beside the ones that are, and returns the new generation's number. Readers see the
 * old or the new ones; the bytes of the generation before the old one are zeroed.
 * @throws SvcError SECRET_REGION_TOO_SMALL (exit 71), SECRET_ENTRY_INVALID (exit 78); nothing is written then
 */
export function writeGeneration(region: Uint8Array, entries: readonly SecretEntry[]): number {
  if (!fitsNextGeneration(region, entries)) throw tooSmall(encodedLength(entries), slotSize(region.length));
  const number = currentGeneration(region).number + 1;
  const offset = slotOffset(number, region.length);
  encodeEntries(slot(region, number), entries);
  storeWord(region, { number, offset });
  if (number >= 2) slot(region, number - 2).fill(0);
  return number;
}

/** Whether writeGeneration has room: a first generation longer than its slot cannot be replaced in place. */
export function fitsNextGeneration(region: Uint8Array, entries: readonly SecretEntry[]): boolean {
  const room = slotSize(region.length);
  const current = currentGeneration(region);
  if (encodedLength(entries) > room || current.number >= lastNumber) return false;
  return current.number > 0 || usedLength(region) <= room;
}

function usedLength(region: Uint8Array): number {
  const ends = [...indexRecords(region, currentGeneration(region)).values()].map(({ end }) => end);
  return Math.max(0, ...ends) + 2;
}

function slot(region: Uint8Array, number: number): Uint8Array {
  const offset = slotOffset(number, region.length);
  return region.subarray(offset, offset + slotSize(region.length));
}

function tooSmall(length: number, room: number): SvcError {
  return new SvcError('SECRET_REGION_TOO_SMALL', `Secrets of ${length} bytes exceed their room of ${room}`, {
    nextStep: 'Restart the application, so that it gets a new descriptor of the right size.',
    exitStatus: exitStatus.system,
  });
}
