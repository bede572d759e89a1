import { release } from '../../../runtime/memory.ts';
import type { ObjectsConfig } from '../../config.ts';
import type { Decryption } from '../../format/cipher.ts';
import type { ResponseBody } from '../../net/http1-response-body.ts';
import { s3Error } from '../../s3/error.ts';
import type { ReadOptions } from '../stored-object.ts';
import { HeldChunks } from './held-chunks.ts';
import {
  type BodySlice,
  openSealed,
  plaintext,
  type SealedBody,
  spoolBody,
  spooledSlice,
  type TakeKey,
  verifyTag,
  within,
} from './sealed-body.ts';
import { type Spool, type SpoolFile, SpoolUnavailable } from './spool.ts';
import type { Hold, VerifyBudget } from './verify-budget.ts';

/** Milliseconds to wait for memory before a body is verified on disk instead. */
const patience = 2_000;

export interface ReadTools {
  readonly config: Pick<ObjectsConfig, 'strict' | 'verifyBuffer'>;
  readonly budget: VerifyBudget;
  readonly spool: Spool;
}

/** A slice of one stored body; `reader` is at its beginning. */
export interface BodyRequest {
  readonly reader: ResponseBody;
  readonly body: SealedBody;
  readonly slice: BodySlice;
  readonly takeKey: TakeKey;
}

/** Decrypts a small body in memory, and a larger one while it streams or, under `--strict`, through the disk. */
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
  yield* verified(reader, body, slice, takeKey, held);
}

/** Memory, or a file if memory takes too long to get. @throws S3Error SlowDown if neither is available */
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

/** @throws errors of spooling; SlowDown if the disk fills up */
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

/** @throws S3Error SlowDown if the file does not fit */
export async function strictFile(spool: Spool, bytes: number): Promise<SpoolFile> {
  const file = await optionalFile(spool, bytes);
  if (file === undefined) throw noRoom(undefined);
  return file;
}

export const noRoom = (cause: unknown) =>
  s3Error('SlowDown', 'There is no room on disk to verify the object before it is sent.', { cause });

/** Decrypts a body into memory, verifies it and yields its slice. Ends the hold. */
async function* verified(
  reader: ResponseBody,
  body: SealedBody,
  slice: BodySlice,
  takeKey: TakeKey,
  hold: Hold,
): AsyncGenerator<Buffer, void> {
  const held = new HeldPlaintext(hold);
  let decryption: Decryption | undefined;
  try {
    decryption = await openSealed(reader, body, takeKey);
    let offset = 0;
    for await (const chunk of plaintext(reader, decryption, body.size)) {
      const { length } = chunk;
      held.add(chunk, within(chunk, offset, slice));
      offset += length;
    }
    await verifyTag(reader, decryption);
    yield* held.drain();
  } finally {
    decryption?.discard();
    held.discard();
  }
}

/** Budget for holding that much plaintext, plus a tenth for chunk overhead. */
const chargeFor = (bytes: number): number => Math.ceil(bytes * 1.1);

/** Plaintext that waits for verification, charged to a hold. */
class HeldPlaintext {
  readonly #hold: Hold;
  readonly #chunks = new HeldChunks();

  constructor(hold: Hold) {
    this.#hold = hold;
  }

  /** @param wanted the part of `chunk` to yield later */
  add(chunk: Buffer, wanted: Buffer): void {
    this.#chunks.add(chunk, wanted);
  }

  /** Yields what was added, in order; a chunk's memory is returned when the next one is requested. */
  *drain(): Generator<Buffer, void> {
    for (let chunk = this.#chunks.shift(); chunk !== undefined; chunk = this.#chunks.shift()) {
      const { length } = chunk;
      yield chunk;
      release(chunk);
      this.#hold.release(chargeFor(length));
    }
  }

  /** Releases everything; safe at any time. */
  discard(): void {
    this.#chunks.discard();
    this.#hold.releaseAll();
  }
}

/** Bytes at the end of a slice that stay here until the whole body has been verified. */
export const heldBack = 64 * 1024;

/**
 * Decrypts a body while it arrives. Bytes are yielded unverified, except for the last 64 KiB of the slice, which wait
 * for the tag, so that a reader never gets a complete slice of a tampered body.
 */
export async function* streamed(
  reader: ResponseBody,
  body: SealedBody,
  slice: BodySlice,
  takeKey: TakeKey,
): AsyncGenerator<Buffer, void> {
  const decryption = await openSealed(reader, body, takeKey);
  const tail = new HeldTail();
  let offset = 0;
  try {
    for await (const chunk of plaintext(reader, decryption, body.size)) {
      const wanted = within(chunk, offset, slice);
      offset += chunk.length;
      if (wanted.length === 0) release(chunk);
      else yield* tail.push(chunk, wanted);
    }
    await verifyTag(reader, decryption);
    yield* tail.rest();
  } finally {
    decryption.discard();
    tail.discard();
  }
}

/** Holds back the last `heldBack` bytes. */
class HeldTail {
  readonly #chunks = new HeldChunks();

  /** @param wanted the part of `chunk` to yield */
  *push(chunk: Buffer, wanted: Buffer): Generator<Buffer, void> {
    this.#chunks.add(chunk, wanted);
    yield* this.#leaving(heldBack);
  }

  rest(): Generator<Buffer, void> {
    return this.#leaving(0);
  }

  discard(): void {
    this.#chunks.discard();
  }

  *#leaving(left: number): Generator<Buffer, void> {
    for (let chunk = this.#chunks.shift(left); chunk !== undefined; chunk = this.#chunks.shift(left)) {
      yield chunk;
      release(chunk);
    }
  }
}
