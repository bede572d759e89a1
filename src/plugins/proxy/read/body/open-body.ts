import type { Decryption } from '../../../../core/envelope/cipher.ts';
import { s3Error } from '../../../../core/s3/error.ts';
import type { ProxyConfig } from '../../config.ts';
import type { ReadOptions } from '../stored-object.ts';
import {
  type ByteReader,
  ciphertext,
  openSealed,
  type SealedBody,
  type Slice,
  type TakeKey,
  verifyTag,
  within,
} from './sealed-body.ts';
import { type Spool, spoolBody, spooledSlice } from './spool.ts';
import { type SpoolFile, SpoolUnavailable } from './spool-file.ts';
import { type BlockPool, blockBytes, type Hold, type VerifyBudget } from './verify-budget.ts';

/** After this wait for memory, in milliseconds, a body is verified on disk instead. */
const patience = 2_000;

export interface ReadTools {
  readonly config: Pick<ProxyConfig, 'strict' | 'verifyBuffer'>;
  readonly budget: VerifyBudget;
  readonly pool: BlockPool;
  readonly spool: Spool;
}

/** A slice of one stored body, which `reader` stands at the beginning of. */
export interface BodyRequest {
  readonly reader: ByteReader;
  readonly body: SealedBody;
  readonly slice: Slice;
  readonly takeKey: TakeKey;
}

/**
 * Decrypts a body in memory when it is small, else while it streams, or under
 * `--strict` through the disk.
 */
export async function* openBody(
  tools: ReadTools,
  request: BodyRequest,
  options: ReadOptions,
): AsyncGenerator<Buffer, void> {
  const { reader, body, slice, takeKey } = request;
  if (body.size <= tools.config.verifyBuffer) yield* smallBody(tools, request, options);
  else if (tools.config.strict) yield* throughDisk(await strictFile(tools.spool, body.size), request);
  else yield* streamed(reader, body, slice, takeKey);
}

async function* smallBody(
  tools: ReadTools,
  request: BodyRequest,
  options: ReadOptions,
): AsyncGenerator<Buffer, void> {
  const held = await memoryOrFile(tools, request, options);
  if ('append' in held) return yield* throughDisk(held, request);
  const { reader, body, slice, takeKey } = request;
  yield* verified(reader, body, slice, takeKey, { hold: held, pool: tools.pool });
}

/** Memory, or a file where memory is long in coming. @throws S3Error SlowDown when neither can be had. */
async function memoryOrFile(
  { budget, spool }: ReadTools,
  { body, slice }: BodyRequest,
  { signal, evict }: ReadOptions,
): Promise<Hold | SpoolFile> {
  const wanted = { bytes: chargeFor(slice.take), signal, evict };
  const hold = await budget.acquire({ ...wanted, patience });
  if (hold !== undefined) return hold;
  const file = await optionalFile(spool, body.size);
  if (file !== undefined) return file;
  const late = await budget.acquire(wanted);
  if (late === undefined) throw s3Error('SlowDown');
  return late;
}

/** @throws what spooling throws; a disk that fills up on the way answers SlowDown. */
async function* throughDisk(file: SpoolFile, request: BodyRequest): AsyncGenerator<Buffer, void> {
  const { reader, body, slice, takeKey } = request;
  let dek: Buffer | undefined;
  try {
    const key = await takeKey();
    dek = key;
    const copy = async () => Buffer.from(key);
    const spooled = await spoolBody(reader, body, copy, file);
    yield* spooledSlice(spooled, slice, copy);
  } catch (error) {
    throw error instanceof SpoolUnavailable ? noRoom(error) : error;
  } finally {
    dek?.fill(0);
    file.close();
  }
}

async function optionalFile(spool: Spool, bytes: number): Promise<SpoolFile | undefined> {
  try {
    return await spool.file(bytes);
  } catch (error) {
    if (error instanceof SpoolUnavailable) return undefined;
    throw error;
  }
}

/** @throws S3Error SlowDown when it does not fit. */
export async function strictFile(spool: Spool, bytes: number): Promise<SpoolFile> {
  const file = await optionalFile(spool, bytes);
  if (file === undefined) throw noRoom(undefined);
  return file;
}

export const noRoom = (cause: unknown) =>
  s3Error('SlowDown', 'There is no room on disk to verify the object before it is given out.', { cause });

/** Decrypts a body into memory and gives its slice out after it was verified. Ends the hold. */
async function* verified(
  reader: ByteReader,
  body: SealedBody,
  slice: Slice,
  takeKey: TakeKey,
  memory: { readonly hold: Hold; readonly pool: BlockPool },
): AsyncGenerator<Buffer, void> {
  const held = new HeldPlaintext(memory.hold, memory.pool, slice.take);
  let decryption: Decryption | undefined;
  try {
    decryption = await openSealed(reader, body, takeKey);
    let offset = 0;
    for await (const chunk of ciphertext(reader, body.size)) {
      const plain = decryption.update(chunk);
      held.add(within(plain, offset, slice));
      offset += plain.length;
    }
    await verifyTag(reader, decryption);
    yield* held.drain();
  } finally {
    decryption?.discard();
    held.discard();
  }
}

/** Plaintext up to this size stays in the chunks that the cipher gave. */
const copyFrom = 64 * 1024;

/** What holding that much plaintext takes of the budget: half as much again for the buffers that the cipher leaves behind. */
const chargeFor = (bytes: number): number => Math.ceil(bytes * 1.5);

/** Plaintext that waits for its verification, in pooled blocks and within a hold on the budget. */
class HeldPlaintext {
  readonly #hold: Hold;
  readonly #pool: BlockPool | undefined;
  #chunks: Buffer[] = [];
  #last: Buffer | undefined;
  #filled = 0;

  constructor(hold: Hold, pool: BlockPool, bytes: number) {
    this.#hold = hold;
    this.#pool = bytes > copyFrom ? pool : undefined;
  }

  add(chunk: Buffer): void {
    if (this.#pool === undefined) this.#chunks.push(chunk);
    else this.#copy(chunk, this.#pool);
  }

  /** What was added, in order; a chunk's memory is given back when the next one is asked for. */
  *drain(): Generator<Buffer, void> {
    this.#seal();
    for (let chunk = this.#chunks[0]; chunk !== undefined; chunk = this.#chunks[0]) {
      yield chunk;
      this.#chunks.shift();
      this.#give(chunk);
      this.#hold.release(chargeFor(chunk.length));
    }
  }

  /** Gives everything back; safe at any time. */
  discard(): void {
    this.#seal();
    for (const chunk of this.#chunks) this.#give(chunk);
    this.#chunks = [];
    this.#hold.releaseAll();
  }

  #copy(chunk: Buffer, pool: BlockPool): void {
    for (let from = 0; from < chunk.length; ) {
      this.#last ??= pool.take();
      const copied = chunk.copy(this.#last, this.#filled, from);
      from += copied;
      this.#filled += copied;
      if (this.#filled === blockBytes) this.#seal();
    }
  }

  #seal(): void {
    if (this.#last !== undefined) this.#chunks.push(this.#last.subarray(0, this.#filled));
    this.#last = undefined;
    this.#filled = 0;
  }

  #give(chunk: Buffer): void {
    this.#pool?.give(Buffer.from(chunk.buffer, 0, blockBytes));
  }
}

/** The end of what is wanted that stays here until the whole body has been verified. */
export const heldBack = 64 * 1024;

/**
 * Decrypts a body while it arrives. Bytes leave before they are verified, all
 * but the last 64 KiB of the slice; these only after the tag was found right,
 * so that a reader never gets a whole slice that was tampered with.
 */
export async function* streamed(
  reader: ByteReader,
  body: SealedBody,
  slice: Slice,
  takeKey: TakeKey,
): AsyncGenerator<Buffer, void> {
  const decryption = await openSealed(reader, body, takeKey);
  const tail = new HeldTail();
  let offset = 0;
  try {
    for await (const chunk of ciphertext(reader, body.size)) {
      const plain = decryption.update(chunk);
      const wanted = within(plain, offset, slice);
      offset += plain.length;
      if (wanted.length > 0) yield* tail.push(wanted);
    }
    await verifyTag(reader, decryption);
    yield* tail.rest();
  } finally {
    decryption.discard();
  }
}

/** Keeps the newest `heldBack` bytes. */
class HeldTail {
  #chunks: Buffer[] = [];
  #bytes = 0;

  *push(chunk: Buffer): Generator<Buffer, void> {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    let first = this.#chunks[0] as Buffer;
    while (this.#bytes - first.length >= heldBack) {
      this.#chunks.shift();
      this.#bytes -= first.length;
      yield first;
      first = this.#chunks[0] as Buffer;
    }
  }

  rest(): Buffer[] {
    return this.#chunks;
  }
}
