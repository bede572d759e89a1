import { createHash } from 'node:crypto';
import type { Budget } from '../../../core/budget.ts';
import { EnvelopeError } from '../../../core/envelope/cipher.ts';
import type { EnvelopeFormat } from '../../../core/envelope/manifest.ts';
import { exitStatus, SvcError } from '../../../core/errors.ts';
import type { WholeChecksum } from '../../../core/s3/checksum.ts';
import { checksumAlgorithms, isDigest } from '../../../core/s3/checksum.ts';
import { S3Error, s3Error } from '../../../core/s3/error.ts';
import { unquote } from '../../../core/s3/headers.ts';
import { checkKey } from '../../../core/s3/request.ts';
import type { ProxyServices } from '../context.ts';
import { during, open } from '../decrypt/source.ts';
import type { ListUser } from '../multipart/lists-in-use.ts';
import { type KeptDigests, ObjectChanged, type StoredObject } from '../read/stored-object.ts';
import type { ListedVersion } from '../rewrap/list-versions.ts';
import { keptHeaders } from './kept-headers.ts';
import { writeEncrypted } from './write-encrypted.ts';

/** What the work on one object takes. */
export interface MigrateTools {
  readonly services: ProxyServices;
  readonly bucket: string;
  /** False where the store holds no write to a condition, and the operator says that nobody writes. */
  readonly conditional: boolean;
  readonly partSize: number;
  /** For plaintexts that are held as a whole. */
  readonly memory: Budget;
  readonly dryRun: boolean;
}

/** What an object is stored as. */
export type StoredAs = 'plaintext' | 'format-1' | 'format-2';

export type Migrated =
  | { readonly as: 'gone' }
  | {
      /**
       * `current`: it was as it should be; `pending`: a dry run has found that it is to be written; `left`: an older version,
       * which no store replaces.
       */
      readonly as: 'current' | 'migrated' | 'pending' | 'left';
      readonly from: StoredAs;
      /** Plaintext bytes, and those of the part list that there is, if any; of an older version those that are stored. */
      readonly size: number;
      readonly parts: number;
      /** Somebody has replaced what was written before it could be read back, by what is as it should be too. */
      readonly replaced?: boolean;
    };

/** Writers who are as fast as this would keep a run from ever ending. */
const mostAttempts = 8;

/**
 * Brings one object into the format of the services. What is so already is left alone, so that a run can begin anew at any time.
 * @param retried what this run has written before may have arrived although the store said nothing of it
 * @throws EnvelopeError, VaultError, S3Error; SvcError MIGRATE_VERIFY where what was written does not read back
 */
export async function migrateObject(
  tools: MigrateTools,
  { key, versionId, latest }: ListedVersion,
  signal: AbortSignal,
  retried = false,
): Promise<Migrated> {
  // names that no proxy serves, and that a store may take for others
  checkKey(key);
  const name = { bucket: tools.bucket, key };
  const version = latest ? undefined : versionId;
  let written: Migrated | undefined;
  for (let attempt = 1; attempt <= mostAttempts; attempt++) {
    const object = await stat(tools, name, version, signal);
    if (object === undefined) return written ?? { as: 'gone' };
    const result = await during(signal, (user) => migrateOnce(tools, object, user, retried || attempt > 1));
    if (result === 'changed') continue;
    const isReplaced = result.as === 'migrated' && result.replaced === true;
    if (!isReplaced) return result.as === 'current' ? (written ?? result) : result;
    // by whom is not known, nor whether it is plaintext; a store may also have named another ETag, or written nothing
    written = result;
  }
  throw s3Error('OperationAborted', `The object was replaced ${mostAttempts} times while it was migrated.`);
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

/** What stores say of an object that is not the one that was expected, or was deleted. */
const changed = new Set(['PreconditionFailed', 'ConditionalRequestConflict', 'NoSuchKey']);

export const formatName = (format: EnvelopeFormat): StoredAs => (format === 2 ? 'format-2' : 'format-1');

const storedAs = ({ envelope }: StoredObject): StoredAs =>
  envelope === undefined ? 'plaintext' : formatName(envelope.format ?? 1);

type Layout = Parameters<ProxyServices['reader']['digests']>[1];

/** Of ciphertext those that are sealed beside it, of plaintext the store's own. */
async function digestsOf(
  { reader }: ProxyServices,
  object: StoredObject,
  layout: Layout,
  signal: AbortSignal,
): Promise<KeptDigests> {
  if (object.envelope !== undefined) return reader.digests(object, layout, signal);
  const checksum = checksumOfStore(object);
  return checksum === undefined ? {} : { checksum };
}

/** One of parts cannot be kept: only the store knows what they were. */
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
  /** Of the plaintext its size and SHA-256; absent: any, as long as it is authentic. */
  readonly plaintext?: { readonly digest: Buffer; readonly size: number };
}

/**
 * Reads the object back as any reader does. It ends the run at once where that fails: what was written wrongly once may be again.
 * @returns false where somebody has replaced it since
 * @throws SvcError MIGRATE_VERIFY
 */
async function verifyStored(
  services: ProxyServices,
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
    `What was written of ${JSON.stringify(key)} does not read back as what it was made from`,
    {
      nextStep:
        'Restore the object from a version or a backup, and check memory and disks of this machine and of the store before you go on.',
      exitStatus: exitStatus.internal,
      cause,
    },
  );

/** A plaintext, and its SHA-256 once it has passed. */
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

  /** Gives back the connection that it would come over. */
  async drop(): Promise<void> {
    for await (const _ of this.#chunks) return;
  }
}
