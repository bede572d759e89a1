import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const chunkLength = 1 << 20;

/** How often these bytes stand in the readable and writable memory of another process. */
export function countInMemory(pid: number, needle: Buffer): number {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    return writableRanges(pid).reduce((sum, range) => sum + countInRange(memory, range, needle), 0);
  } finally {
    closeSync(memory);
  }
}

function writableRanges(pid: number): [from: number, to: number][] {
  const lines = readFileSync(`/proc/${pid}/maps`, 'latin1').split('\n');
  return lines.flatMap((line) => {
    const [, from = '', to = ''] = /^(\w+)-(\w+) rw/.exec(line) ?? [];
    return from ? [[Number.parseInt(from, 16), Number.parseInt(to, 16)]] : [];
  });
}

function countInRange(memory: number, [from, to]: [from: number, to: number], needle: Buffer): number {
  const chunk = Buffer.alloc(chunkLength + needle.length);
  let count = 0;
  for (let position = from; position < to; position += chunkLength) {
    const length = Math.min(chunk.length, to - position);
    count += occurrences(chunk.subarray(0, readSome(memory, chunk, length, position)), needle);
  }
  return count;
}

/** 0 for pages that nobody may read, as those of memfd_secret. */
function readSome(memory: number, into: Buffer, length: number, position: number): number {
  try {
    return readSync(memory, into, 0, length, position);
  } catch {
    return 0;
  }
}

function occurrences(bytes: Buffer, needle: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + 1)) count++;
  return count;
}
