import type { ObjectsConfig } from '../config.ts';
import type { ObjectServices } from '../context.ts';
import type { PartEntry } from '../format/body-format.ts';
import { EnvelopeError, openWhole } from '../format/cipher.ts';
import { bodyFormat } from '../format/formats.ts';
import { hasEnvelope } from '../format/metadata.ts';
import type { ResponseBody } from '../net/http1-response-body.ts';
import { coveringParts } from '../s3/range.ts';
import { headRefusal, type UpstreamResponse } from '../upstream/upstream.ts';
import { type BodyRequest, noRoom, openBody, type ReadTools, streamed } from './body/open-body.ts';
import {
  type BodySlice,
  ciphertext,
  type SealedBody,
  sealedPart,
  singleKey,
  spoolBody,
  spooledSlice,
  type TakeKey,
} from './body/sealed-body.ts';
import { Spool, type SpoolFile, type SpoolLease, SpoolUnavailable } from './body/spool.ts';
import { defaultVerifyTimes, VerifyBudget } from './body/verify-budget.ts';
import {
  bytesOf,
  type PartRun,
  partRuns,
  spoolFrom,
  UnwrappedPartKeys,
  verifiedParts,
  type WantedPart,
  type WantedParts,
  wholePartList,
  wholeParts,
} from './object-parts.ts';
import { SegmentedReads } from './segmented-reads.ts';
import { keptDigests, readCovered, readSmall, sealOf } from './small-object.ts';
import {
  type BodyReads,
  type ByteRange,
  describe,
  fetchStored,
  loadLayout,
  type ObjectAddress,
  ObjectChanged,
  type ObjectLayout,
  type ObjectReader,
  type ReadOptions,
  type StoredObject,
  versionQuery,
} from './stored-object.ts';

/** The reader of a proxy process; owns the memory and disk used for verification. */
export function createObjectReader(parts: ReaderParts): ObjectReader {
  const { config, upstream, manifests } = parts;
  const limit = config.verifyBudget;
  const budget = new VerifyBudget(limit, defaultVerifyTimes, parts.memory?.partFor(limit));
  const spool = new Spool({ folder: config.spoolDir, space: parts.spoolSpace });
  const whole = new WholeReads(parts, { config, budget, spool });
  const segmented = new SegmentedReads(parts);
  const readsOf = ({ envelope }: StoredObject): BodyReads =>
    bodyFormat(envelope?.format).derived ? segmented : whole;
  const { keys, metrics } = parts;
  const atOnce = { keys, metrics, budget };
  return {
    stat: async (name, { versionId, headers, access = {}, signal }) => {
      const address: ObjectAddress = { name, versionId, access };
      const request = {
        ...name,
        query: versionQuery(address),
        headers: { ...access, ...headers },
        ...(signal ? { signal } : {}),
      };
      const response = await upstream.send({ method: 'HEAD', ...request });
      if (response.status !== 200) throw await headRefusal(upstream, request, response);
      response.body.resume();
      return describe(config, address, response.headers);
    },
    describe: (address, headers) => describe(config, address, headers),
    layout: (object, user) => loadLayout(manifests, object, user),
    decrypt: (object, ...more) => readsOf(object).decrypt(object, ...more),
    decryptSmall: (object, layout, response, options) => readSmall(atOnce, object, layout, response, options),
    decryptCovered: (object, layout, range, response, options) =>
      readCovered(atOnce, object, layout, range, response, options),
    digests: (object, layout, signal) => keptDigests(keys, object, layout, signal),
    plaintext: (object, ...more) => readsOf(object).plaintext(object, ...more),
    verifySize: (object, ...more) => readsOf(object).verifySize(object, ...more),
    close: () => spool.close(),
  };
}

/** One sealed body of an object, and the slice wanted of it. */
interface Wanted {
  readonly body: SealedBody;
  readonly slice: BodySlice;
  /** Range of the sealed body in the stored object; undefined: the whole object. */
  readonly stored: ByteRange | undefined;
  /** Identifies the wrapped DEK: an equal one gives equal plaintext. */
  readonly wrapped: string;
  readonly keyFor: (signal: AbortSignal) => TakeKey;
}

/** Reads objects in format 1, and those that are not encrypted, from bodies that arrive or have to be fetched. */
class WholeReads implements BodyReads {
  readonly #parts: ReaderParts;
  readonly #tools: ReadTools;

  constructor(parts: ReaderParts, tools: ReadTools) {
    this.#parts = parts;
    this.#tools = tools;
  }

  async *decrypt(
    object: StoredObject,
    layout: ObjectLayout,
    response: UpstreamResponse,
    options: ReadOptions,
  ): AsyncGenerator<Buffer, void> {
    const reader = response.body;
    try {
      if (object.envelope === undefined) yield* ciphertext(reader, object.storedSize);
      else if (object.envelope.emptySeal !== undefined) await this.#verifySeal(object, options);
      else if (layout.list === undefined) yield* this.#whole(object, layout, reader, options);
      else yield* this.#inOrder(object, layout, wholeParts(wholePartList(layout).parts), reader, options);
    } finally {
      reader.close();
    }
  }

  async *plaintext(
    object: StoredObject,
    layout: ObjectLayout,
    range: ByteRange | undefined,
    options: ReadOptions,
  ): AsyncGenerator<Buffer, void> {
    const whole = range === undefined || (range.start === 0 && range.end === layout.size - 1);
    if (object.envelope === undefined) yield* this.#asStored(object, whole ? undefined : range, options);
    else if (object.envelope.emptySeal !== undefined) await this.#verifySeal(object, options);
    else if (whole)
      yield* this.decrypt(object, layout, await this.#fetch(object, undefined, options.signal), options);
    else if (layout.list === undefined) yield* this.#ofSingle(object, layout, range, options);
    else yield* this.#ofParts(object, layout, range, options);
  }

  /** Reads a single body up to its tag, which alone authenticates its length, unless the body is verified on disk. */
  async verifySize(object: StoredObject, layout: ObjectLayout, options: ReadOptions): Promise<void> {
    if (object.envelope === undefined || layout.list !== undefined) return;
    if (object.envelope.emptySeal !== undefined) return this.#verifySeal(object, options);
    const wanted = this.#wantedOfSingle(object, layout, { skip: 0, take: 0 });
    const spooled = this.#tools.spool.find(spoolId(object, wanted));
    if (spooled !== undefined) return refuseOtherSize(spooled, wanted);
    const reader = (await this.#fetch(object, undefined, options.signal)).body;
    try {
      const nothing = streamed(reader, wanted.body, wanted.slice, wanted.keyFor(options.signal));
      await nothing.next();
      this.#parts.metrics.bytes('decrypted', layout.size);
    } finally {
      reader.close();
    }
  }

  /** Verifies an object without a body by its seal. */
  async #verifySeal(object: StoredObject, { signal }: ReadOptions): Promise<void> {
    const dek = await singleKey(this.#parts.keys, object, signal)();
    try {
      openWhole(sealOf(object) as Buffer, dek);
    } finally {
      dek.fill(0);
    }
  }

  #fetch(object: StoredObject, range: ByteRange | undefined, signal: AbortSignal): Promise<UpstreamResponse> {
    return fetchStored(this.#parts.upstream, object, range, signal);
  }

  async *#asStored(object: StoredObject, range: ByteRange | undefined, { signal }: ReadOptions) {
    const response = await this.#fetch(object, range, signal);
    const reader = response.body;
    try {
      if (hasEnvelope(response.headers)) throw new ObjectChanged();
      yield* ciphertext(reader, Number(response.headers['content-length']));
    } finally {
      reader.close();
    }
  }

  #whole(object: StoredObject, layout: ObjectLayout, reader: ResponseBody, options: ReadOptions) {
    return this.#open(options, {
      reader,
      body: { size: layout.size, nonce: undefined },
      slice: { skip: 0, take: layout.size },
      takeKey: singleKey(this.#parts.keys, object, options.signal),
    });
  }

  async *#open(options: ReadOptions, request: BodyRequest): AsyncGenerator<Buffer, void> {
    yield* openBody(this.#tools, request, options);
    this.#parts.metrics.bytes('decrypted', request.body.size);
  }

  async *#inOrder(
    object: StoredObject,
    layout: ObjectLayout,
    wanted: WantedParts,
    reader: ResponseBody,
    options: ReadOptions,
  ): AsyncGenerator<Buffer, void> {
    const openKeys = () => this.#partKeys(object, layout, wanted, options.signal);
    if (this.#tools.config.strict && wanted.end - wanted.first > 1) {
      yield* verifiedParts(this.#tools.spool, reader, wanted, openKeys);
      return this.#parts.metrics.bytes('decrypted', bytesOf(wanted));
    }
    const keys = openKeys();
    try {
      for (const { entry, slice } of wanted)
        yield* this.#open(options, { reader, body: sealedPart(entry), slice, takeKey: keys.of(entry) });
    } finally {
      keys.close();
    }
  }

  #wantedOfSingle(object: StoredObject, { size }: ObjectLayout, slice: BodySlice): Wanted {
    const { keys } = this.#parts;
    return {
      body: { size, nonce: undefined },
      slice,
      stored: undefined,
      wrapped: object.envelope?.keys.form === 'single' ? object.envelope.keys.dek : '',
      keyFor: (signal) => singleKey(keys, object, signal),
    };
  }

  async *#ofSingle(object: StoredObject, layout: ObjectLayout, range: ByteRange, options: ReadOptions) {
    const slice = { skip: range.start, take: range.end - range.start + 1 };
    const wanted = this.#wantedOfSingle(object, layout, slice);
    if (layout.size > spoolFrom) yield* this.#shared(object, wanted, options);
    else yield* this.#alone(object, wanted, options);
  }

  async *#ofParts(object: StoredObject, layout: ObjectLayout, range: ByteRange, options: ReadOptions) {
    const entries = wholePartList(layout).parts;
    const together = this.#tools.config.strict && severalParts(entries, range);
    for (const run of partRuns(entries, range, together)) {
      if (run.shared) yield* this.#shared(object, this.#wantedOf(object, layout, run), options);
      else yield* this.#run(object, layout, run, options);
    }
  }

  async *#run(object: StoredObject, layout: ObjectLayout, run: PartRun, options: ReadOptions) {
    const response = await this.#fetch(object, run.stored, options.signal);
    const reader = response.body;
    try {
      yield* this.#inOrder(object, layout, run.parts, reader, options);
    } finally {
      reader.close();
    }
  }

  #wantedOf(object: StoredObject, layout: ObjectLayout, run: PartRun): Wanted {
    const [first] = run.parts;
    const { entry, slice } = first as WantedPart;
    return {
      body: sealedPart(entry),
      slice,
      stored: run.stored,
      wrapped: entry.dek,
      keyFor: (signal) => this.#partKeys(object, layout, run.parts, signal).of(entry),
    };
  }

  #partKeys(
    object: StoredObject,
    layout: ObjectLayout,
    wanted: WantedParts,
    signal: AbortSignal,
  ): UnwrappedPartKeys {
    return new UnwrappedPartKeys(this.#parts.keys, object, wholePartList(layout), wanted, signal);
  }

  /** The body is fetched once for all requests whose slices are read at about the same time. */
  async *#shared(object: StoredObject, wanted: Wanted, options: ReadOptions): AsyncGenerator<Buffer, void> {
    const lease = await this.#lease(object, wanted, options);
    if (lease === undefined) return yield* this.#alone(object, wanted, options);
    try {
      refuseOtherSize(lease.body, wanted);
      yield* spooledSlice(lease.body, wanted.slice, wanted.keyFor(options.signal));
    } finally {
      lease.release();
    }
  }

  async #lease(object: StoredObject, wanted: Wanted, options: ReadOptions): Promise<SpoolLease | undefined> {
    const { strict, verifyBuffer } = this.#tools.config;
    const fill = async (file: SpoolFile, signal: AbortSignal) => {
      const response = await this.#fetch(object, wanted.stored, signal);
      const reader = response.body;
      try {
        const spooled = await spoolBody(reader, wanted.body, wanted.keyFor(signal), file);
        this.#parts.metrics.bytes('decrypted', wanted.body.size);
        return spooled;
      } finally {
        reader.close();
      }
    };
    try {
      return await this.#tools.spool.lease(spoolId(object, wanted), wanted.body.size, fill, options.signal);
    } catch (error) {
      if (!(error instanceof SpoolUnavailable)) throw error;
      if (strict && wanted.body.size > verifyBuffer) throw noRoom(error);
      return undefined;
    }
  }

  async *#alone(object: StoredObject, wanted: Wanted, options: ReadOptions): AsyncGenerator<Buffer, void> {
    const response = await this.#fetch(object, wanted.stored, options.signal);
    const reader = response.body;
    const { body, slice } = wanted;
    try {
      yield* this.#open(options, { reader, body, slice, takeKey: wanted.keyFor(options.signal) });
    } finally {
      reader.close();
    }
  }
}

function severalParts(entries: readonly PartEntry[], range: ByteRange): boolean {
  const [, second] = coveringParts(entries, range);
  return second !== undefined;
}

/** @throws EnvelopeError `wrong-size` if the store claims another length than the verified one */
function refuseOtherSize({ size }: { readonly size: number }, { body }: Wanted): void {
  if (size === body.size) return;
  throw new EnvelopeError('wrong-size', 'the store reports another body length than the one verified before');
}

/** Includes the wrapped DEK, so that a slice is never decrypted under another key than the body was verified with. */
const spoolId = ({ name, versionId, etag }: StoredObject, { wrapped, stored }: Wanted): string =>
  JSON.stringify([name.bucket, name.key, versionId ?? null, etag, wrapped, stored?.start ?? null]);

/** Dependencies for reading, in a proxy process or a command that reads like one. */
type ReaderParts = Pick<ObjectServices, 'keys' | 'upstream' | 'manifests' | 'metrics' | 'spoolSpace'> & {
  /** Of a process that does more than reading: plaintext has its part in it. */
  readonly memory?: ObjectServices['memory'] | undefined;
  readonly config: Pick<
    ObjectsConfig,
    'unencryptedReads' | 'strict' | 'spoolDir' | 'verifyBuffer' | 'verifyBudget'
  >;
};
