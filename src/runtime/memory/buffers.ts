import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Memory that is zeroed when it is given up. */
export interface ByteBlock {
  /** Bytes, at least as many as were asked for. */
  readonly length: number;
  /** In place. @throws TypeError after `release` */
  readonly bytes: Buffer;
  /** Zeroes it. Repeat calls are harmless. */
  release(): void;
}

export interface ByteMemory {
  allocate(length: number): ByteBlock;
}

const smallest = 4096;
const largestKept = 64 * 1024;
const mostKept = 32;

/**
 * Blocks outside V8's heap, used again and again, for what holds keys for the time of a call. Unlike secret memory
 * they cost no system call, and may be swapped out.
 */
export function createWipedMemory(): ByteMemory {
  const kept = new Map<number, Buffer[]>();
  const give = (bytes: Buffer) => {
    const free = kept.get(bytes.length) ?? [];
    if (bytes.length > largestKept || free.length >= mostKept) return;
    free.push(bytes);
    kept.set(bytes.length, free);
  };
  return {
    allocate(length) {
      const size = 2 ** Math.ceil(Math.log2(Math.max(length, smallest)));
      return new WipedBlock(kept.get(size)?.pop() ?? ownBuffer(size), give);
    },
  };
}

/**
 * Zeroed memory that is not moved: arrays of up to 64 bytes that Node allocates by itself lie in V8's heap, whose
 * collector leaves copies behind.
 */
export const ownBuffer = (length: number): Buffer => Buffer.from(new ArrayBuffer(length));

class WipedBlock implements ByteBlock {
  readonly length: number;
  readonly #give: (bytes: Buffer) => void;
  #bytes: Buffer | undefined;

  constructor(bytes: Buffer, give: (bytes: Buffer) => void) {
    this.length = bytes.length;
    this.#bytes = bytes;
    this.#give = give;
  }

  get bytes(): Buffer {
    if (this.#bytes === undefined) throw new TypeError('The memory was given up');
    return this.#bytes;
  }

  release(): void {
    const bytes = this.#bytes;
    if (bytes === undefined) return;
    this.#bytes = undefined;
    this.#give(bytes.fill(0));
  }
}

type Collect = (options: { type: 'minor' | 'major' }) => void;

/** Young buffers are collected at this distance: 0.2 to 1 ms a time. */
const stepBytes = 2 * 1024 * 1024;
/** Buffers in use at two such moments count as old; when those have grown by so much, all are looked at. */
const growthBytes = 8 * 1024 * 1024;
/** Steps from one look at what is old to the next: asking takes a tenth of a millisecond. */
const stepsToLook = 4;

let dropped = 0;
let steps = 0;
let settled = 0;
let collect: Collect | undefined;

/**
 * To be told of buffers that have served: sockets and ciphers give each chunk out in a new one.
 * V8 hardly sees them, a few bytes of its heap each, and lets hundreds of megabytes of dead ones
 * stand before it looks. Collecting them early keeps a process that streams flat, and saves more
 * than it costs, because the memory that comes free is warm.
 */
export function droppedBuffers(bytes: number): void {
  dropped += bytes;
  if (dropped < stepBytes) return;
  dropped = 0;
  collect ??= findCollector();
  collect({ type: 'minor' });
  steps += 1;
  if (steps % stepsToLook === 0) collectOld(collect);
}

function collectOld(collect: Collect): void {
  if (process.memoryUsage().arrayBuffers < settled + growthBytes) return;
  collect({ type: 'major' });
  settled = process.memoryUsage().arrayBuffers;
}

/** The flag may be set while the process runs; contexts made after that have the function. */
function findCollector(): Collect {
  setFlagsFromString('--expose-gc');
  const gc: Collect = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return gc;
}
