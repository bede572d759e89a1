import { readFileSync } from 'node:fs';

export interface ElfHeader {
  /** Such as 62 (x86-64) or 183 (AArch64). */
  readonly machine: number;
  /** The program loader's path. */
  readonly interpreter: string | undefined;
}

const INTERPRETER = 3;

/** Reads the headers of a 64-bit little-endian ELF file. */
export function readElfHeader(path: string): ElfHeader {
  const file = readFileSync(path);
  if (file.toString('latin1', 0, 4) !== '\x7fELF') throw new Error(`${path} is no ELF file`);
  const [table, size, count] = [
    Number(file.readBigUInt64LE(32)),
    file.readUInt16LE(54),
    file.readUInt16LE(56),
  ];
  const headers = Array.from({ length: count }, (_, index) => file.subarray(table + index * size));
  const header = headers.find((one) => one.readUInt32LE(0) === INTERPRETER);
  const at = header && Number(header.readBigUInt64LE(8));
  const interpreter = at === undefined ? undefined : file.toString('latin1', at, file.indexOf(0, at));
  return { machine: file.readUInt16LE(18), interpreter };
}
