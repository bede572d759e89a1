import { s3Error } from '../../../../core/s3/error-catalog.ts';
import type { ProxyConfig } from '../../config.ts';
import type { ReadOptions } from '../object-reader.ts';
import type { Spool } from '../spool/spool.ts';
import { type SpoolFile, SpoolUnavailable } from '../spool/spool-file.ts';
import { spoolBody, spooledSlice } from '../spool/spooled-body.ts';
import type { BlockPool } from './block-pool.ts';
import type { ByteReader } from './byte-reader.ts';
import { chargeFor } from './held-plaintext.ts';
import type { SealedBody, Slice, TakeKey } from './sealed-body.ts';
import { streamed } from './streamed.ts';
import { verified } from './verified.ts';
import type { Hold, VerifyBudget } from './verify-budget.ts';

/** After this wait for memory, in milliseconds, a body is verified on disk instead. */
const patience = 2_000;

export interface RoadTools {
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
  tools: RoadTools,
  request: BodyRequest,
  options: ReadOptions,
): AsyncGenerator<Buffer, void> {
  const { reader, body, slice, takeKey } = request;
  if (body.size <= tools.config.verifyBuffer) yield* smallBody(tools, request, options);
  else if (tools.config.strict) yield* throughDisk(await strictFile(tools.spool, body.size), request);
  else yield* streamed(reader, body, slice, takeKey);
}

async function* smallBody(
  tools: RoadTools,
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
  { budget, spool }: RoadTools,
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
