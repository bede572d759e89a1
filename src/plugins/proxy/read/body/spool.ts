import { decryptVerifiedFrom, discard } from '../../../../core/envelope/cipher.ts';
import { release } from '../../../../runtime/memory.ts';
import type { ResponseBody } from '../../../../runtime/net/http1-response-body.ts';
import {
  type BodySlice,
  ciphertext,
  openSealed,
  type SealedBody,
  type TakeKey,
  verifyTag,
} from './sealed-body.ts';
import { SpoolFile, type SpoolSpace, SpoolUnavailable } from './spool-file.ts';

/** Fills the file; `signal` is aborted when nobody waits for it any more. */
export type FillSpool = (file: SpoolFile, signal: AbortSignal) => Promise<SpooledBody>;

/** A spooled body that stays on disk until `release`. */
export interface SpoolLease {
  readonly body: SpooledBody;
  release(): void;
}

export interface SpoolOptions {
  readonly folder: string;
  /** Bound on the bytes on disk, which others may share. */
  readonly space: SpoolSpace;
  /** How long a body stays after its last use. Milliseconds. */
  readonly life?: number;
}

interface Entry {
  readonly id: string;
  readonly filled: Promise<SpooledBody>;
  readonly stop: AbortController;
  users: number;
  /** Set once the fill has succeeded. */
  body: SpooledBody | undefined;
  expiry: NodeJS.Timeout | undefined;
}

const defaultLife = 60_000;
/** Each holds a file descriptor. */
const mostBodies = 256;

/** Verified ciphertext on disk, fetched once for all who read slices of the same stored body. */
export class Spool {
  readonly #options: SpoolOptions;
  readonly #space: SpoolSpace;
  /** In order of last use. */
  readonly #entries = new Map<string, Entry>();

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#space = options.space;
    this.#space.evictFrom({ evictOne: () => this.#evictOne() });
  }

  get used(): number {
    return this.#space.used;
  }

  /** A file for one reader alone. @throws SpoolUnavailable */
  async file(bytes: number): Promise<SpoolFile> {
    const space = this.#space.reserve(bytes);
    if (space === undefined) throw new SpoolUnavailable(`spool: no room for ${bytes} bytes`);
    return SpoolFile.create(this.#options.folder, space);
  }

  /**
   * The spooled body called `id`, filled by the first who asks. Waits until it is whole and verified.
   * @throws SpoolUnavailable, and what `fill` throws, to everybody who waits.
   */
  async lease(id: string, bytes: number, fill: FillSpool, signal: AbortSignal): Promise<SpoolLease> {
    const entry = this.#entries.get(id) ?? this.#add(id, bytes, fill);
    this.#use(entry);
    try {
      const body = await settledOrAborted(entry.filled, signal);
      return { body, release: once(() => this.#leave(entry)) };
    } catch (error) {
      this.#leave(entry);
      throw error;
    }
  }

  /** The body called `id` where it lies whole and verified on disk; valid until something is awaited. */
  find(id: string): SpooledBody | undefined {
    return this.#entries.get(id)?.body;
  }

  close(): void {
    for (const entry of [...this.#entries.values()]) this.#drop(entry);
  }

  #add(id: string, bytes: number, fill: FillSpool): Entry {
    const stop = new AbortController();
    const entry: Entry = {
      id,
      stop,
      filled: this.#fill(bytes, fill, stop.signal),
      users: 0,
      body: undefined,
      expiry: undefined,
    };
    this.#entries.set(id, entry);
    entry.filled.then(
      (body) => this.#filled(entry, body),
      () => this.#forget(entry),
    );
    return entry;
  }

  #filled(entry: Entry, body: SpooledBody): void {
    entry.body = body;
    if (entry.users === 0) this.#drop(entry);
  }

  async #fill(bytes: number, fill: FillSpool, signal: AbortSignal): Promise<SpooledBody> {
    const file = await this.file(bytes);
    try {
      return await fill(file, signal);
    } catch (error) {
      file.close();
      throw error;
    }
  }

  #use(entry: Entry): void {
    entry.users += 1;
    clearTimeout(entry.expiry);
    if (this.#entries.get(entry.id) !== entry) return;
    this.#entries.delete(entry.id);
    this.#entries.set(entry.id, entry);
  }

  #leave(entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0) return;
    if (entry.body === undefined || this.#entries.get(entry.id) !== entry) return void this.#drop(entry);
    entry.expiry = setTimeout(() => this.#drop(entry), this.#options.life ?? defaultLife);
    entry.expiry.unref();
    if (this.#entries.size > mostBodies) this.#evictOne();
  }

  #evictOne(): Promise<void> | undefined {
    const idle = [...this.#entries.values()].find(({ users }) => users === 0);
    return idle && this.#drop(idle);
  }

  /** The file goes once nobody reads it any more. */
  async #drop(entry: Entry): Promise<void> {
    this.#forget(entry);
    clearTimeout(entry.expiry);
    if (entry.users > 0) return;
    if (entry.body === undefined) entry.stop.abort(new Error('nobody waits for this body any more'));
    else await entry.body.file.close();
  }

  #forget(entry: Entry): void {
    if (this.#entries.get(entry.id) === entry) this.#entries.delete(entry.id);
  }
}

function settledOrAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}

function once(action: () => void): () => void {
  let done = false;
  return () => {
    if (!done) action();
    done = true;
  };
}

const readBytes = 128 * 1024;

/** A body whose ciphertext lies on disk and was found authentic. */
export interface SpooledBody {
  readonly file: SpoolFile;
  readonly nonce: Buffer;
  /** Plaintext bytes, which the tag vouches for. */
  readonly size: number;
  /** Where it begins in the file, default 0. */
  readonly start?: number;
}

/** Appends a body's ciphertext to the file and verifies it on the way. */
export async function spoolBody(
  reader: ResponseBody,
  body: SealedBody,
  takeKey: TakeKey,
  file: SpoolFile,
): Promise<SpooledBody> {
  const decryption = await openSealed(reader, body, takeKey);
  const start = file.length;
  try {
    for await (const chunk of ciphertext(reader, body.size)) {
      release(decryption.update(chunk));
      await file.append(chunk);
    }
    await verifyTag(reader, decryption);
  } finally {
    decryption.discard();
  }
  return { file, nonce: decryption.nonce, size: body.size, start };
}

/** Decrypts a slice of a spooled body. */
export async function* spooledSlice(
  { file, nonce, start = 0 }: SpooledBody,
  { skip, take }: BodySlice,
  takeKey: TakeKey,
): AsyncGenerator<Buffer, void> {
  const dek = await takeKey();
  const decipher = startAt(dek, nonce, skip);
  const buffer = Buffer.allocUnsafeSlow(Math.min(readBytes, take));
  try {
    for (let done = 0; done < take; ) {
      const wanted = Math.min(buffer.length, take - done);
      const count = await file.read(buffer.subarray(0, wanted), start + skip + done);
      if (count === 0) throw new Error('the spool file is shorter than what was written to it');
      const chunk = decipher.update(buffer.subarray(0, count));
      yield chunk;
      release(chunk);
      done += count;
    }
  } finally {
    discard(decipher);
  }
}

function startAt(dek: Buffer, nonce: Buffer, offset: number) {
  try {
    return decryptVerifiedFrom(dek, nonce, offset);
  } finally {
    dek.fill(0);
  }
}
