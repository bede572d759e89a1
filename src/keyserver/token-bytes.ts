import { closeSync, openSync, readSync } from 'node:fs';
import type { ByteMemory } from '../runtime/memory.ts';
import { VaultError } from './contract.ts';
import { SecretBuffer } from './secret-buffer.ts';

/** Releasable memory of a token. */
interface TokenHolder {
  readonly bytes: Buffer;
  release(): void;
}

/** A token or JWT as bytes, without surrounding white space. */
export class TokenBytes {
  readonly #holder: TokenHolder;
  readonly #start: number;
  readonly #end: number;

  /** @param holder released together with this */
  constructor(holder: TokenHolder) {
    const { bytes } = holder;
    let start = 0;
    let end = bytes.length;
    while (start < end && isBlank(bytes[start])) start++;
    while (end > start && isBlank(bytes[end - 1])) end--;
    this.#holder = holder;
    this.#start = start;
    this.#end = end;
  }

  /** The token in place. */
  get bytes(): Buffer {
    return this.#holder.bytes.subarray(this.#start, this.#end);
  }

  /** Why the bytes cannot be a token; undefined if they can. */
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

const maxTokenBytes = 64 * 1024;

/** @param bytes copied */
export function tokenFrom(bytes: Uint8Array, memory: ByteMemory): TokenBytes {
  const buffer = new SecretBuffer(memory);
  buffer.append(bytes);
  return new TokenBytes(buffer);
}

/**
 * Reads a token from a file straight into secret memory.
 * @param opened the file if it is already open; closed here
 * @throws VaultError of kind `unavailable`, because the file may appear or be filled later
 */
export function readTokenBytes(path: string, what: string, memory: ByteMemory, opened?: number): TokenBytes {
  const buffer = new SecretBuffer(memory);
  try {
    readInto(buffer, opened ?? openSync(path, 'r'));
  } catch (error) {
    buffer.release();
    throw unreadableTokenFile(what, path, error);
  }
  return tokenInFile(buffer, path, what);
}

/** Closes the descriptor. */
function readInto(buffer: SecretBuffer, descriptor: number): void {
  try {
    while (buffer.appendFrom((into) => readSync(descriptor, into)) > 0) {
      if (buffer.bytes.length > maxTokenBytes) throw Object.assign(new Error(), { code: 'EFBIG' });
    }
  } finally {
    closeSync(descriptor);
  }
}

function tokenInFile(holder: TokenHolder, path: string, what: string): TokenBytes {
  const token = new TokenBytes(holder);
  const { fault } = token;
  if (fault === undefined) return token;
  token.release();
  throw unusableTokenFile(what, path, fault);
}

const unreadableTokenFile = (what: string, path: string, cause: unknown): VaultError =>
  unusableTokenFile(what, path, `cannot be read (${(cause as NodeJS.ErrnoException).code})`, cause);

function unusableTokenFile(what: string, path: string, fault: string, cause?: unknown): VaultError {
  return new VaultError('unavailable', `The ${what} file ${path} ${fault}`, {
    cause,
    nextStep: `Put one token into ${path}; it is read again at the next attempt.`,
  });
}
