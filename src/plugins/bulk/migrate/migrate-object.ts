import { createHash } from 'node:crypto';
import type { ObjectServices } from '../../../objects/context.ts';
import type { EnvelopeFormat } from '../../../objects/format/body-format.ts';
import { EnvelopeError } from '../../../objects/format/cipher.ts';
import type { ListUser } from '../../../objects/multipart/lists-in-use.ts';
import { type KeptDigests, ObjectChanged, type StoredObject } from '../../../objects/read/stored-object.ts';
import type { WholeChecksum } from '../../../objects/s3/checksum.ts';
import { checksumAlgorithms, isDigest } from '../../../objects/s3/checksum.ts';
import { S3Error, s3Error } from '../../../objects/s3/error.ts';
import { unquote } from '../../../objects/s3/headers.ts';
import { checkKey } from '../../../objects/s3/request.ts';
import type { Budget } from '../../../runtime/bounds/budget.ts';
import { exitStatus, SvcError } from '../../../runtime/errors.ts';
import type { StoredEntry } from '../engine/list-objects.ts';
import { during, open } from '../engine/open-object.ts';
import { keptHeaders } from './kept-headers.ts';
import { writeEncrypted } from './write-encrypted.ts';

/** Dependencies and options for migrating one object. */
export interface MigrateTools {
  readonly services: ObjectServices;
  readonly bucket: string;
  /** False if the store ignores conditions on writes, and the operator asserts that nobody else writes. */
  readonly conditional: boolean;
  readonly partSize: number;
  /** Bounds plaintexts that are held whole. */
  readonly memory: Budget;
  readonly dryRun: boolean;
}

/** How an object is stored. */
export type StoredAs = 'plaintext' | 'format-1' | 'format-2';

export type Migrated =
  | { readonly as: 'gone' }
  | {
      /**
       * `current`: already as it should be; `pending`: a dry run found that it has to be rewritten; `left`: an older
       * version, which stores cannot replace.
       */
      readonly as: 'current' | 'migrated' | 'pending' | 'left';
      readonly from: StoredAs;
      /** Plaintext bytes, and the number of parts in the existing part list; for an older version the stored bytes. */
      readonly size: number;
      readonly parts: number;
      /** Somebody replaced the new object before it could be read back. */
      readonly replaced?: boolean;
    };

/** Objects that are replaced more often than this would keep a run from ever ending. */
const maxAttempts = 8;

/**
 * Converts one object to the format of the services. An object that already has it is left alone, so a run can start
 * over at any time.
 * @param retried an earlier write of this run may have arrived although the store did not confirm it
 * @throws EnvelopeError, VaultError, S3Error; SvcError MIGRATE_VERIFY if the written object does not read back
 */
export async function migrateObject(
  tools: MigrateTools,
  { key, versionId, latest }: StoredEntry,
  signal: AbortSignal,
  retried = false,
): Promise<Migrated> {
  // keys that the proxy does not serve, and that a store may treat as another key
  checkKey(key);
  const name = { bucket: tools.bucket, key };
  const version = latest ? undefined : versionId;
  let written: Migrated | undefined;
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const object = await stat(tools, name, version, signal);
    if (object === undefined) return written ?? { as: 'gone' };
    const result = await during(signal, (user) => migrateOnce(tools, object, user, retried || attempt > 1));
    if (result === 'changed') continue;
    const isReplaced = result.as === 'migrated' && result.replaced === true;
    if (!isReplaced) return result.as === 'current' ? (written ?? result) : result;
    // the replacement may be plaintext; the store may also have reported a wrong ETag or written nothing
    written = result;
  }
  throw s3Error('OperationAborted', `The object was replaced ${maxAttempts} times while it was migrated.`);
}

async function stat(
  { services }: MigrateTools,
  name: StoredObject['name'],
  versionId: string | undefined,
  signal: AbortSignal,
): Promise<StoredObject | undefined> {
  try {
    const headers = { 'x-amz-checksum-mode': 'ENABLED' };
    return await services.reader.stat(name, { versionId, headers, signal });
  } catch (error) {
    if (error instanceof S3Error && error.status === 404) return undefined;
    throw error;
  }
}

async function migrateOnce(
  tools: MigrateTools,
  object: StoredObject,
  user: ListUser,
  retried: boolean,
): Promise<Migrated | 'changed'> {
  const { services, dryRun } = tools;
  const from = storedAs(object);
  const isDone = from === 'format-2' || from === formatName(services.config.format);
  const found = { from, size: object.storedSize, parts: 0 };
  if (isDone) {
    const isSame = !retried || (await verifyStored(services, object, { etag: unquote(object.etag) }, user));
    return isSame ? { as: 'current', ...found } : 'changed';
  }
  if (object.versionId !== undefined) return { as: 'left', ...found };
  const layout = await services.reader.layout(object, user);
  const planned = { from, size: layout.size, parts: layout.list?.parts.length ?? 0 };
  if (dryRun) return { as: 'pending', ...planned };
  if (tools.conditional && object.etag === '')
    throw s3Error('InternalError', 'The object store names no ETag that the write could depend on.');
  const headers = await keptHeaders(services, object, user.signal);
  const digests = await digestsOf(services, object, layout, user.signal);
  const source = new Digesting(services.reader.plaintext(object, layout, undefined, user));
  const { conditional, partSize, memory } = tools;
  try {
    const read = { object, layout, digests, headers, plaintext: source };
    const replacement = { ...read, conditional, partSize, memory };
    const { etag } = await writeEncrypted(services, replacement, user.signal);
    const expected = { etag, plaintext: { digest: source.digest(), size: layout.size } };
    const verified = await verifyStored(services, object, expected, user);
    return { as: 'migrated', ...planned, ...(!verified && { replaced: true }) };
  } catch (error) {
    if (error instanceof ObjectChanged) return 'changed';
    if (error instanceof S3Error && changed.has(error.code)) return 'changed';
    throw error;
  }
}

/** Errors of stores when the expected object was replaced or deleted. */
const changed = new Set(['PreconditionFailed', 'ConditionalRequestConflict', 'NoSuchKey']);

export const formatName = (format: EnvelopeFormat): StoredAs => (format === 2 ? 'format-2' : 'format-1');

const storedAs = ({ envelope }: StoredObject): StoredAs =>
  envelope === undefined ? 'plaintext' : formatName(envelope.format ?? 1);

type Layout = Parameters<ObjectServices['reader']['digests']>[1];

/** For ciphertext, the digests sealed beside it; for plaintext, the store's checksum. */
async function digestsOf(
  { reader }: ObjectServices,
  object: StoredObject,
  layout: Layout,
  signal: AbortSignal,
): Promise<KeptDigests> {
  if (object.envelope !== undefined) return reader.digests(object, layout, signal);
  const checksum = checksumOfStore(object);
  return checksum === undefined ? {} : { checksum };
}

/** A composite checksum cannot be kept, as only the store knows its parts. */
function checksumOfStore({ headers }: StoredObject): WholeChecksum | undefined {
  if (headers['x-amz-checksum-type'] === 'COMPOSITE') return undefined;
  for (const algorithm of checksumAlgorithms) {
    const text = headers[`x-amz-checksum-${algorithm}`];
    if (typeof text === 'string' && isDigest(text, algorithm))
      return { algorithm, type: 'FULL_OBJECT', text };
  }
  return undefined;
}

interface Expected {
  /** Unquoted. */
  readonly etag: string;
  /** Expected size and SHA-256 of the plaintext; absent: any authentic plaintext. */
  readonly plaintext?: { readonly digest: Buffer; readonly size: number };
}

/**
 * Reads the object back as any reader does. A mismatch ends the run at once, because it may happen again.
 * @returns false if somebody has replaced the object since
 * @throws SvcError MIGRATE_VERIFY
 */
async function verifyStored(
  services: ObjectServices,
  { name }: StoredObject,
  expected: Expected,
  user: ListUser,
): Promise<boolean> {
  try {
    const read = await open(services, name.bucket, name.key, user);
    const again = new Digesting(read.chunks);
    if (read.etag !== expected.etag) {
      await again.drop();
      return false;
    }
    for await (const _ of again);
    const { size = read.size, digest } = expected.plaintext ?? {};
    const isSame = digest === undefined || again.digest().equals(digest);
    if (read.encrypted && read.size === size && isSame) return true;
  } catch (error) {
    if (error instanceof S3Error && error.status === 404) return false;
    if (error instanceof EnvelopeError) throw unreadable(name.key, error);
    throw error;
  }
  throw unreadable(name.key);
}

const unreadable = (key: string, cause?: Error) =>
  new SvcError(
    'MIGRATE_VERIFY',
    `The rewritten object ${JSON.stringify(key)} does not read back as its original`,
    {
      nextStep:
        'Restore the object from a version or a backup, and check memory and disks of this machine and of the store before you go on.',
      exitStatus: exitStatus.internal,
      cause,
    },
  );

/** Passes a plaintext through and calculates its SHA-256. */
class Digesting implements AsyncIterable<Buffer> {
  readonly #chunks: AsyncIterable<Buffer>;
  readonly #hash = createHash('sha256');

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for await (const chunk of this.#chunks) {
      this.#hash.update(chunk);
      yield chunk;
    }
  }

  digest(): Buffer {
    return this.#hash.digest();
  }

  /** Releases the connection of an unread plaintext. */
  async drop(): Promise<void> {
    for await (const _ of this.#chunks) return;
  }
}
