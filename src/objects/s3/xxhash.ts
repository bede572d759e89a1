import type { IHasher } from 'hash-wasm';

/** S3 checksums that Node lacks, in WebAssembly that is loaded when first needed. */
export type XxhashAlgorithm = 'xxhash64' | 'xxhash3' | 'xxhash128';

/** Imported individually: all of the library's algorithms together take 10 MiB. */
const modules: Readonly<Record<XxhashAlgorithm, () => Promise<IHasher>>> = {
  xxhash64: async () => (await import('hash-wasm/dist/xxhash64.umd.min.js')).default.createXXHash64(),
  xxhash3: async () => (await import('hash-wasm/dist/xxhash3.umd.min.js')).default.createXXHash3(),
  xxhash128: async () => (await import('hash-wasm/dist/xxhash128.umd.min.js')).default.createXXHash128(),
};

/** One hasher serves all bodies: each continues from its own saved state. */
interface Machine {
  readonly hasher: IHasher;
  owner: Xxhash | undefined;
}

const machines = new Map<XxhashAlgorithm, Machine>();

/** Await before the first `Xxhash` of the algorithm. */
export async function loadXxhash(algorithm: XxhashAlgorithm): Promise<void> {
  if (machines.has(algorithm)) return;
  const hasher = await modules[algorithm]();
  if (!machines.has(algorithm)) machines.set(algorithm, { hasher, owner: undefined });
}

/** Hashes one body, with seed 0. */
export class Xxhash {
  readonly #machine: Machine;
  #state: Uint8Array | undefined;

  /** @throws TypeError for an algorithm that was not loaded */
  constructor(algorithm: XxhashAlgorithm) {
    const machine = machines.get(algorithm);
    if (machine === undefined) throw new TypeError(`${algorithm} was not loaded`);
    this.#machine = machine;
  }

  update(data: Buffer): void {
    this.#take().update(data);
  }

  /** Big-endian; may be called once. */
  digest(): Buffer {
    const digest = Buffer.from(this.#take().digest('binary'));
    this.#machine.owner = undefined;
    return digest;
  }

  #take(): IHasher {
    const { hasher, owner } = this.#machine;
    if (owner === this) return hasher;
    if (owner !== undefined) owner.#state = hasher.save();
    if (this.#state === undefined) hasher.init();
    else hasher.load(this.#state);
    this.#machine.owner = this;
    return hasher;
  }
}
