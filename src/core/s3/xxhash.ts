import type { IHasher } from 'hash-wasm';

/** Those of S3's checksums that Node does not have: WebAssembly, loaded when first needed. */
export type XxhashAlgorithm = 'xxhash64' | 'xxhash3' | 'xxhash128';

/** One by one: all algorithms of the library together take 10 MiB. */
const modules: Readonly<Record<XxhashAlgorithm, () => Promise<IHasher>>> = {
  xxhash64: async () => (await import('hash-wasm/dist/xxhash64.umd.min.js')).default.createXXHash64(),
  xxhash3: async () => (await import('hash-wasm/dist/xxhash3.umd.min.js')).default.createXXHash3(),
  xxhash128: async () => (await import('hash-wasm/dist/xxhash128.umd.min.js')).default.createXXHash128(),
};

/** One machine serves every body: who goes on takes its state along. */
interface Machine {
  readonly hasher: IHasher;
  owner: Xxhash | undefined;
}

const machines = new Map<XxhashAlgorithm, Machine>();

/** To be awaited before the first `Xxhash` of the algorithm. */
export async function loadXxhash(algorithm: XxhashAlgorithm): Promise<void> {
  if (machines.has(algorithm)) return;
  const hasher = await modules[algorithm]();
  if (!machines.has(algorithm)) machines.set(algorithm, { hasher, owner: undefined });
}

/** Of one body, with the seed 0. */
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

  /** Big-endian; once. */
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
