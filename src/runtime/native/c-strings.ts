import { exitStatus, SvcError } from '../../core/errors.ts';

/** Text goes as UTF-8, bytes go as they are. */
export type CString = string | Uint8Array;

const pointerSize = 8;

/** Bytes that `writeStrings` needs for these: a multiple of 8. */
export function stringsLength(strings: readonly CString[]): number {
  const text = strings.reduce((sum, string) => sum + Buffer.byteLength(string) + 1, 0);
  return Math.ceil((pointersLength(strings) + text) / pointerSize) * pointerSize;
}

/**
 * Writes a NULL-terminated array of pointers and then the NUL-terminated strings, as `argv` and `envp` are,
 * without any copy in between.
 * @param memory where to, and `address` its first byte's, a multiple of 8
 * @throws SvcError NUL_IN_STRING (exit 78), which names the position and never the string
 */
export function writeStrings(memory: Buffer, address: bigint, strings: readonly CString[]): void {
  let offset = pointersLength(strings);
  for (const [index, string] of strings.entries()) {
    memory.writeBigUInt64LE(address + BigInt(offset), index * pointerSize);
    const length = write(memory, offset, string);
    if (memory.subarray(offset, offset + length).includes(0)) throw nulInString(index);
    memory[offset + length] = 0;
    offset += length + 1;
  }
  memory.writeBigUInt64LE(0n, strings.length * pointerSize);
}

function pointersLength(strings: readonly CString[]): number {
  return (strings.length + 1) * pointerSize;
}

function write(memory: Buffer, offset: number, string: CString): number {
  if (typeof string === 'string') return memory.write(string, offset, 'utf8');
  memory.set(string, offset);
  return string.length;
}

function nulInString(index: number): SvcError {
  return new SvcError('NUL_IN_STRING', `Argument or variable number ${index + 1} holds a NUL byte`, {
    nextStep: 'A process can be given no NUL byte: take it out, or deliver the value in another encoding.',
    exitStatus: exitStatus.config,
  });
}
