import { openWhole, overheadBytes } from '../../../core/envelope/cipher.ts';
import { release } from '../../../runtime/memory.ts';
import type { ProxyServices } from '../context.ts';
import type { UpstreamResponse } from '../upstream/upstream.ts';
import { cut, singleKey } from './body/sealed-body.ts';
import type { Hold, VerifyBudget } from './body/verify-budget.ts';
import { asksForDigests, openDigests } from './kept-digests.ts';
import { openCovering, openSegmented } from './segmented-reads.ts';
import type { ByteRange, ObjectLayout, ReadOptions, SmallObject, StoredObject } from './stored-object.ts';

/** Bodies up to this size are decrypted in one step, in plaintext bytes. */
const smallBytes = 64 * 1024;

/** A body that is taken into memory and opened in one step. */
interface Arriving {
  readonly response: UpstreamResponse;
  readonly bytes: number;
  /** @throws EnvelopeError */
  readonly open: (stored: Buffer, dek: Buffer) => Buffer;
}

/** Plaintext of objects in one piece without streams: they are small, or what is wanted of them is. */
export class ReadsAtOnce {
  readonly #parts: Pick<ProxyServices, 'keys' | 'metrics'>;
  readonly #budget: VerifyBudget;

  constructor(parts: Pick<ProxyServices, 'keys' | 'metrics'>, budget: VerifyBudget) {
    this.#parts = parts;
    this.#budget = budget;
  }

  /** @returns undefined for what is not small, or where there is no memory for it */
  small(object: StoredObject, layout: ObjectLayout, response: UpstreamResponse, options: ReadOptions) {
    if (object.envelope?.keys.form !== 'single' || layout.size > smallBytes) return undefined;
    const open = (stored: Buffer, dek: Buffer) =>
      object.envelope?.format === 2 ? openSegmented(object, stored, dek) : openWhole(stored, dek);
    return this.#open(object, layout, { response, bytes: object.storedSize, open }, options);
  }

  /** @returns undefined where there is no memory for it */
  covered(
    object: StoredObject,
    layout: ObjectLayout,
    range: ByteRange,
    response: UpstreamResponse,
    options: ReadOptions,
  ) {
    const bytes = Number(response.headers['content-length']);
    const open = (stored: Buffer, dek: Buffer) => openCovering(object, layout, range, stored, dek);
    return this.#open(object, layout, { response, bytes, open }, options);
  }

  #open(object: StoredObject, layout: ObjectLayout, arriving: Arriving, options: ReadOptions) {
    const hold = this.#budget.take(2 * arriving.bytes, options.evict);
    return hold && this.#openHeld(object, layout, arriving, hold, options);
  }

  /** The key is asked for while the body comes, and may be refused before. */
  async #openHeld(
    object: StoredObject,
    layout: ObjectLayout,
    { response, bytes, open }: Arriving,
    hold: Hold,
    { signal, checksum }: ReadOptions,
  ): Promise<SmallObject> {
    const unwrapped = singleKey(this.#parts.keys, object, signal)();
    unwrapped.catch(() => undefined);
    try {
      const stored = sealOf(object) ?? (await response.body.exact(bytes));
      if (stored === undefined) throw cut();
      const dek = await unwrapped;
      const digests = asksForDigests(object, checksum === true) ? openDigests(object, layout, dek) : {};
      const plaintext = open(stored, dek);
      release(stored);
      this.#parts.metrics.bytes('decrypted', plaintext.length);
      const done = () => {
        hold.releaseAll();
        release(plaintext);
      };
      return { plaintext, digests, done };
    } catch (error) {
      hold.releaseAll();
      throw error;
    } finally {
      unwrapped.then((dek) => dek.fill(0)).catch(() => undefined);
      response.body.close();
    }
  }
}

/** What stands in the metadata in place of the body, in memory of its own. */
export const sealOf = ({ envelope }: StoredObject): Buffer | undefined =>
  envelope?.emptySeal === undefined ? undefined : Buffer.alloc(overheadBytes, envelope.emptySeal, 'base64');
