import type { Region } from '../../../runtime/native/memory.ts';
import type { ShareableMemory } from '../../../runtime/native/secret-memory.ts';
import type { CString } from '../../../runtime/native/spawn.ts';

/** A program for svc-init to start. */
export interface LaunchStrings {
  /** A path; PATH is not searched. */
  readonly file: string;
  /** Including the program's name. */
  readonly argv: readonly CString[];
  readonly env: readonly CString[];
}

const wordSize = 8;

/**
 * Lays strings out as init/launch.h reads them: offsets of file, arguments, 0, variables, 0, as 64-bit numbers, then
 * the strings. The caller has refused strings with a NUL.
 */
export function writeLaunch({ file, argv, env }: LaunchStrings, memory: ShareableMemory): Region {
  const words = [file, ...argv, undefined, ...env, undefined];
  const start = words.length * wordSize;
  const length = words.reduce((sum, text) => sum + lengthOf(text), start);
  const region = memory.share(length);
  const { bytes } = region;
  let at = start;
  for (const [index, text] of words.entries()) {
    bytes.writeBigUInt64LE(text === undefined ? 0n : BigInt(at), index * wordSize);
    if (text === undefined) continue;
    if (typeof text === 'string') bytes.write(text, at);
    else bytes.set(text, at);
    at += lengthOf(text);
    bytes[at - 1] = 0;
  }
  return region;
}

function lengthOf(text: CString | undefined): number {
  return text === undefined ? 0 : Buffer.byteLength(text) + 1;
}
