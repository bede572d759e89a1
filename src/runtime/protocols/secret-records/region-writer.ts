import { exitStatus, SvcError } from '../../errors.ts';
import {
  currentGeneration,
  indexRecords,
  slotOffset,
  slotSize,
  storeWord,
  wordLength,
} from './region-layout.ts';

const lastNumber = 0xffffffff;

/**
 * Writes the first generation to the start of a zeroed region.
 * @throws SvcError SECRET_REGION_TOO_SMALL (exit 71), SECRET_ENTRY_INVALID (exit 78), before anything is written
 */
export function writeFirstGeneration(region: Uint8Array, entries: readonly SecretEntry[]): void {
  const room = region.length - wordLength;
  if (encodedLength(entries) > room) throw tooSmall(encodedLength(entries), room);
  encodeEntries(region.subarray(0, room), entries);
}

/**
 * Writes new entries beside the current ones, switches to them, and returns the new generation's number. Readers see
 * either the old or the new entries; the generation before the old one is zeroed.
 * @throws SvcError SECRET_REGION_TOO_SMALL (exit 71), SECRET_ENTRY_INVALID (exit 78), before anything is written
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

/** Whether writeGeneration has room; a first generation that is longer than its slot cannot be replaced in place. */
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
  return new SvcError(
    'SECRET_REGION_TOO_SMALL',
    `Secrets of ${length} bytes do not fit into the room of ${room}`,
    {
      nextStep: 'Restart the application, so that it gets a new descriptor of the right size.',
      exitStatus: exitStatus.system,
    },
  );
}

/** One secret of the delivery record. The value is raw bytes without NUL, not necessarily text. */
export interface SecretEntry {
  readonly key: string;
  readonly value: Uint8Array;
}

const text = new TextEncoder();
const equals = 0x3d;

/** Bytes of `KEY=VALUE\0` for each entry, and of the empty record that ends them. */
export function encodedLength(entries: readonly SecretEntry[]): number {
  return entries.reduce((sum, { key, value }) => sum + Buffer.byteLength(key) + value.length + 2, 1);
}

/**
 * Writes the entries to the start of the target, and returns the number of bytes. Values are copied from buffer to
 * buffer.
 * @throws SvcError SECRET_ENTRY_INVALID (exit 78) that names the key, before anything is written
 * @throws RangeError if the target is shorter than encodedLength
 */
export function encodeEntries(target: Uint8Array, entries: readonly SecretEntry[]): number {
  for (const entry of entries) check(entry);
  if (encodedLength(entries) > target.length) throw new RangeError('The entries exceed their target.');
  let at = 0;
  for (const { key, value } of entries) {
    at += text.encodeInto(key, target.subarray(at)).written;
    target[at++] = equals;
    target.set(value, at);
    at += value.length;
    target[at++] = 0;
  }
  target[at++] = 0;
  return at;
}

function check({ key, value }: SecretEntry): void {
  if (key === '' || /[=\0]/.test(key)) throw invalid(key, 'a name must not be empty, or contain "=" or NUL');
  if (value.includes(0)) throw invalid(key, 'a value with a NUL byte cannot be delivered');
}

function invalid(key: string, rule: string): SvcError {
  return new SvcError('SECRET_ENTRY_INVALID', `Secret ${JSON.stringify(key)}: ${rule}`, {
    nextStep: 'Rename or re-encode the field in the secrets server, or leave it out.',
    exitStatus: exitStatus.config,
  });
}
