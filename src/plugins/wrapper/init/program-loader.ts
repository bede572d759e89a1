import { closeSync, openSync, readSync } from 'node:fs';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';

const interpreter = 3;
/** Offsets of ELF's 64-bit headers, little-endian. */
const file = { headersAt: 0x20, headerSize: 0x36, headerCount: 0x38, length: 0x40 } as const;
const header = { type: 0, offset: 0x08, size: 0x20 } as const;

/**
 * The loader that a program names (PT_INTERP). Started with the program's path as its argument, it runs the program.
 * @param path an ELF file
 * @throws SvcError LOADER_MISSING (exit 71) for a statically linked program
 */
export function programLoader(path: string): string {
  const descriptor = openSync(path, 'r');
  const read = (length: number, position: number) => {
    const bytes = Buffer.alloc(length);
    readSync(descriptor, bytes, 0, length, position);
    return bytes;
  };
  try {
    const head = read(file.length, 0);
    const size = head.readUInt16LE(file.headerSize);
    const count = head.readUInt16LE(file.headerCount);
    const table = read(size * count, Number(head.readBigUInt64LE(file.headersAt)));
    for (let at = 0; at < table.length; at += size) {
      if (table.readUInt32LE(at + header.type) !== interpreter) continue;
      const length = Number(table.readBigUInt64LE(at + header.size));
      return read(length - 1, Number(table.readBigUInt64LE(at + header.offset))).toString();
    }
  } finally {
    closeSync(descriptor);
  }
  throw new SvcError('LOADER_MISSING', `${path} names no program loader: it is linked statically`, {
    nextStep: 'Run the wrapper in a Node that is linked dynamically, or set SVC_RESIDENT=true.',
    exitStatus: exitStatus.system,
  });
}
