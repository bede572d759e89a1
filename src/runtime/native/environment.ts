import { memoryAt, tryLong } from './libc.ts';
import type { Region } from './region.ts';
import { withScratch } from './scratch.ts';
import type { SecretMemory } from './secret-memory.ts';

const star = 0x2a;

/**
 * Moves a variable's value from the process's own environment into secret memory, without a JavaScript string.
 * The variable is gone then, its bytes (where /proc/PID/environ shows them) overwritten with `*`.
 * To be called before anything lists `process.env`, which copies every value.
 * @returns undefined where the variable is not set
 * @throws SvcError as `allocate` does; the variable is then untouched
 */
export function takeVariable(name: string, memory: SecretMemory): Region | undefined {
  const value = find(name);
  if (value === undefined) return undefined;
  const region = memory.allocate(value.length);
  value.bytes.copy(region.bytes);
  wipeVariable(name);
  return region;
}

/** Removes a variable in the same way, however often the environment has it. */
export function wipeVariable(name: string): void {
  for (let found = find(name); found !== undefined; found = find(name)) {
    const entry = BigInt(Buffer.byteLength(name) + 1);
    memoryAt(found.address - entry, Number(entry) + found.length).fill(star);
  }
}

interface Value {
  address: bigint;
  length: number;
  bytes: Buffer;
}

function find(name: string): Value | undefined {
  const address = lookUp(name);
  if (address === 0n) return undefined;
  const length = Number(tryLong('strlen', address));
  return { address, length, bytes: memoryAt(address, length) };
}

function lookUp(name: string): bigint {
  return withScratch(Buffer.byteLength(name) + 1, ({ address, bytes }) => {
    bytes.write(name);
    return tryLong('getenv', address);
  });
}
