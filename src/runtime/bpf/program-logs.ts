import { copyAt } from '../native/c-memory.ts';
import { callInt } from '../native/libc.ts';
import { mapFlags, mapMemory, protection } from '../native/mapping.ts';
import { bpfInt } from './libbpf.ts';
import { reasonLines } from './verifier-log.ts';

/** Kernels before 6.4 fail with ENOSPC where a log has no room. What is not written to takes no memory. */
const room = 8 << 20;
/** The reason is at the end. */
const tail = 16 << 10;

export interface ProgramLogs {
  /** What the kernel said of each program that it said something of, in the order of the handles. */
  said(): { index: number; lines: string[] }[];
  release(): void;
}

/** Gives each program a buffer of its own for what the kernel says when it refuses the program. */
export function programLogs(handles: readonly bigint[]): ProgramLogs {
  const memory = mapMemory(room * handles.length, protection.readWrite, mapFlags.privateAnonymous);
  const at = (index: number) => memory.address + BigInt(index * room);
  for (const [index, handle] of handles.entries()) {
    bpfInt('log', 'bpf_program__set_log_buf', handle, at(index), BigInt(room));
  }
  return {
    said: () =>
      handles
        .map((_, index) => ({ index, lines: reasonLines(lastOf(at(index))) }))
        .filter(({ lines }) => lines.length > 0),
    release: () => memory.unmap(),
  };
}

function lastOf(address: bigint): string {
  const length = callInt('strlen', address);
  const shown = Math.min(length, tail);
  return shown === 0 ? '' : copyAt(address + BigInt(length - shown), shown).toString();
}
