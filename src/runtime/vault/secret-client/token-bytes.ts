import { closeSync, openSync, readSync } from 'node:fs';
import type { SecretMemory } from '../../native/secret-memory.ts';
import { unusableTokenFile } from '../read-token.ts';
import { SecretBuffer } from './secret-buffer.ts';

const maxTokenBytes = 64 * 1024;

/** Secret memory that can be given up: a Region or a SecretBuffer. */
interface Holder {
  readonly bytes: Buffer;
  release(): void;
}

/** A token or JWT in secret memory, without the white space around it. */
export class TokenBytes {
  readonly #holder: Holder;
  readonly #start: number;
  readonly #end: number;

  /** The holder is released with this. */
  constructor(holder: Holder) {
    const { bytes } = holder;
    let start = 0;
    let end = bytes.length;
    while (start < end && isBlank(bytes[start])) start++;
    while (end > start && isBlank(bytes[end - 1])) end--;
    this.#holder = holder;
    this.#start = start;
    this.#end = end;
  }

  /** In place. */
  get bytes(): Buffer {
    return this.#holder.bytes.subarray(this.#start, this.#end);
  }

  /** Why it cannot be a token, or undefined. */
  get fault(): string | undefined {
    if (this.#start === this.#end) return 'is empty';
    return this.bytes.every((byte) => byte > 0x20 && byte < 0x7f) ? undefined : 'holds something else';
  }

  release(): void {
    this.#holder.release();
  }
}

const isBlank = (byte: number | undefined): boolean =>
  byte === 0x20 || (byte !== undefined && byte >= 9 && byte <= 13);

/** @param bytes are copied */
export function tokenFrom(bytes: Uint8Array, memory: SecretMemory): TokenBytes {
  const buffer = new SecretBuffer(memory);
  buffer.append(bytes);
  return new TokenBytes(buffer);
}

/**
 * Reads a token from a file straight into secret memory.
 * @throws VaultError of kind `unavailable`: the file may come, or be filled, later
 */
export function readTokenBytes(path: string, what: string, memory: SecretMemory): TokenBytes {
  const buffer = new SecretBuffer(memory);
  try {
    readInto(buffer, path);
  } catch (error) {
    buffer.release();
    const { code } = error as NodeJS.ErrnoException;
    throw unusableTokenFile(what, path, `cannot be read (${code})`, error);
  }
  const token = new TokenBytes(buffer);
  const { fault } = token;
  if (fault === undefined) return token;
  token.release();
  throw unusableTokenFile(what, path, fault);
}

function readInto(buffer: SecretBuffer, path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    while (buffer.appendFrom((into) => readSync(descriptor, into)) > 0) {
      if (buffer.bytes.length > maxTokenBytes) throw Object.assign(new Error(), { code: 'EFBIG' });
    }
  } finally {
    closeSync(descriptor);
  }
}
