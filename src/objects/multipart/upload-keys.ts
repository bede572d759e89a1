import { unlessAborted } from '../../runtime/lifecycle/wait.ts';
import { ownBuffer } from '../../runtime/memory.ts';
import { bodyFormat } from '../format/formats.ts';
import type { DataKeys } from '../keys/data-keys.ts';
import type { UploadRecord } from './upload-record.ts';

/** The fields of an upload that determine its keys. */
export type UploadToOpen = Pick<
  UploadRecord,
  'bucket' | 'key' | 'format' | 'manifest' | 'seal' | 'binding' | 'keyName'
>;

/** Milliseconds after its last use at which an upload's DEK is wiped. */
export const uploadKeyLifeMs = 60_000;
const maxUploads = 64;

/**
 * Caches the DEKs of uploads in format 2. All parts use keys derived from one DEK; without the cache each part would
 * cost a call to the key server.
 */
export class UploadKeys {
  readonly #keys: Pick<DataKeys, 'unwrap'>;
  /** In order of last use, the oldest first. */
  readonly #held = new Map<string, HeldKey>();

  constructor(keys: Pick<DataKeys, 'unwrap'>) {
    this.#keys = keys;
  }

  /**
   * The DEK of an upload in format 2; the caller zeroes it.
   * @throws EnvelopeError and VaultError as `DataKeys.unwrap`
   */
  async dek(upload: UploadToOpen, signal?: AbortSignal): Promise<Buffer> {
    // without the caller's signal, because others may wait for the same key
    const held = this.#held.get(idOf(upload)) ?? this.#hold(upload, this.#unwrap(upload));
    this.#use(idOf(upload), held);
    return copyOf(await (signal === undefined ? held.arrived : unlessAborted(held.arrived, signal)));
  }

  /** The key that stands in the list, from the cache if it is a DEK; the caller zeroes it. @throws as `dek` */
  unwrapped(upload: UploadToOpen, signal?: AbortSignal): Promise<Buffer> {
    return bodyFormat(upload.format).derived ? this.dek(upload, signal) : this.#unwrap(upload, signal);
  }

  /** The seal key of the part list and the create record, in either format; the caller zeroes it. @throws as `dek` */
  async sealKey(upload: UploadToOpen, signal?: AbortSignal): Promise<Buffer> {
    const key = await this.unwrapped(upload, signal);
    const sealKey = bodyFormat(upload.format).listKey(key, upload.manifest);
    if (sealKey !== key) key.fill(0);
    return sealKey;
  }

  /** Caches a copy of the DEK of an upload that begins in this process. */
  keep(upload: UploadToOpen, dek: Uint8Array): void {
    this.#use(idOf(upload), this.#hold(upload, Promise.resolve(copyOf(dek))));
  }

  /** Wipes the DEK of an upload that has ended. */
  forget(upload: UploadToOpen): void {
    this.#wipe(idOf(upload));
  }

  close(): void {
    for (const id of [...this.#held.keys()]) this.#wipe(id);
  }

  async #unwrap(upload: UploadToOpen, signal?: AbortSignal): Promise<Buffer> {
    const { format, manifest, seal } = upload;
    const purpose = { kind: 'seal', upload: manifest, format } as const;
    const [key] = await this.#keys.unwrap(upload, upload, [{ wrapped: seal, purpose }], signal);
    if (key === undefined) throw new TypeError('a purpose without a key');
    return key;
  }

  #hold(upload: UploadToOpen, arrived: Promise<Buffer>): HeldKey {
    const id = idOf(upload);
    const held: HeldKey = { arrived, expiry: undefined };
    this.#held.set(id, held);
    // the next request unwraps the key again
    arrived.catch(() => this.#held.get(id) === held && this.#held.delete(id));
    if (this.#held.size > maxUploads)
      for (const oldest of this.#held.keys()) return this.#wipe(oldest) ?? held;
    return held;
  }

  #use(id: string, held: HeldKey): void {
    if (this.#held.get(id) !== held) return;
    clearTimeout(held.expiry);
    this.#held.delete(id);
    this.#held.set(id, held);
    held.expiry = setTimeout(() => this.#wipe(id), uploadKeyLifeMs).unref();
  }

  /** Waits for callers that are about to copy the key. */
  #wipe(id: string): undefined {
    const held = this.#held.get(id);
    this.#held.delete(id);
    clearTimeout(held?.expiry);
    held?.arrived.then((dek) => setImmediate(() => dek.fill(0))).catch(() => undefined);
  }
}

interface HeldKey {
  readonly arrived: Promise<Buffer>;
  expiry: NodeJS.Timeout | undefined;
}

const idOf = ({ bucket, key, manifest, seal, binding, keyName }: UploadToOpen): string =>
  JSON.stringify([bucket, key, manifest, seal, binding, keyName]);

function copyOf(dek: Uint8Array): Buffer {
  const copy = ownBuffer(dek.length);
  copy.set(dek);
  return copy;
}
