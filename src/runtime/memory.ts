import { setFlagsFromString } from 'node:v8';

/** Memory that is zeroed on release. */
export interface ByteBlock {
  /** Bytes, at least as many as requested. */
  readonly length: number;
  /** The memory itself. @throws TypeError after `release` */
  readonly bytes: Buffer;
  /** Zeroes the memory. Repeated calls have no effect. */
  release(): void;
}

export interface ByteMemory {
  allocate(length: number): ByteBlock;
}

const minBytes = 4096;
const maxKeptBytes = 64 * 1024;
const maxKept = 32;

/**
 * Reusable blocks outside V8's heap, for buffers that hold keys during a call. Unlike secret memory they take no system
 * call, and may be swapped out.
 */
export function createWipedMemory(): ByteMemory {
  const kept = new Map<number, Buffer[]>();
  const give = (bytes: Buffer) => {
    const free = kept.get(bytes.length) ?? [];
    if (bytes.length > maxKeptBytes || free.length >= maxKept) return;
    free.push(bytes);
    kept.set(bytes.length, free);
  };
  return {
    allocate(length) {
      const size = 2 ** Math.ceil(Math.log2(Math.max(length, minBytes)));
      return new WipedBlock(kept.get(size)?.pop() ?? ownBuffer(size), give);
    },
  };
}

/**
 * Zeroed memory that never moves: small arrays (up to 64 bytes) live on V8's heap, where garbage collection leaves
 * copies behind.
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

/**
 * Frees the memory of a buffer at once instead of leaving it to garbage collection: V8 accounts for a 64 KiB buffer
 * with only a few bytes of heap, and lets hundreds of megabytes of dead buffers accumulate. Call it only when nobody
 * reads from the buffer any more, not even the operating system, which may until the callback of a write. Does nothing
 * for a part of a larger block.
 */
export function release(buffer: Buffer): void {
  const { buffer: block } = buffer;
  if (buffer.length > 0 && buffer.length === block.byteLength && block instanceof ArrayBuffer)
    block.transfer(0);
}

/** What `read` makes of bytes that nobody needs afterwards; they are freed also if it throws. */
export function lastUse<T>(bytes: Buffer, read: (bytes: Buffer) => T): T {
  try {
    return read(bytes);
  } finally {
    release(bytes);
  }
}

/** What `read` makes of bytes that it may share; they are freed if it throws. */
export function readOrRelease<T>(bytes: Buffer, read: (bytes: Buffer) => T): T {
  try {
    return read(bytes);
  } catch (error) {
    release(bytes);
    throw error;
  }
}

/**
 * Makes malloc keep freed blocks of up to 4 MiB, for a process that constantly allocates large buffers: by default,
 * glibc maps every block of more than 128 KiB anew, page by page. glibc adapts to the largest freed block.
 */
export function keepFreedBlocks(): void {
  new ArrayBuffer(4 * 1024 * 1024).transfer(0);
}

/** Whether this process has more resident bytes; true if they cannot be read, for example without a free descriptor. */
export function isLargerThan(bytes: number, resident = process.memoryUsage.rss): boolean {
  try {
    return resident() > bytes;
  } catch {
    return true;
  }
}

/**
 * Runs a full collection, at most once in `everyMs`. For a process that is idle between short pieces of work: V8 alone
 * would let dead buffers outside its heap accumulate for hours.
 */
export function createCollector(everyMs: number): () => void {
  let collect: (() => void) | undefined;
  let next = 0;
  return () => {
    const now = performance.now();
    if (now < next) return;
    next = now + everyMs;
    collect ??= exposed();
    collect();
  };
}

/**
 * V8's own function for collection. The `gc` of `--expose-gc` also returns pages to the kernel, which ends a process
 * with locked memory (Node 24).
 */
function exposed(): () => void {
  setFlagsFromString('--allow-natives-syntax');
  try {
    return new Function('%CollectGarbage(0);') as () => void;
  } finally {
    setFlagsFromString('--no-allow-natives-syntax');
  }
}

/**
 * Makes V8 collect instead of growing, for a process in a small container: the young generation keeps its initial size,
 * and the old one grows little between collections. Costs about a tenth of the CPU time of small requests; saves 130 MB
 * of resident memory under load. Call it early, because the heap rarely returns memory. Not for a process with locked
 * memory, where returning pages fails, which V8 treats as fatal.
 */
export function keepHeapSmall(): void {
  keepYoungGenerationSmall();
  setFlagsFromString('--optimize-for-size');
}

/**
 * `keepHeapSmall` for a process that serves many small requests: a fifth less processor time for the same memory. The
 * old generation may grow by 30 % between collections, and V8 compiles in one step instead of two, because its Maglev
 * compiler temporarily takes up to 20 MiB. A single thread collects the young generation: waking helpers costs more
 * than they save, and on busy processors every request would wait for the last of them.
 */
export function keepHeapSmallUnderLoad(): void {
  keepYoungGenerationSmall();
  for (const flag of ['--heap-growing-percent=30', '--no-maglev', '--no-parallel-scavenge'])
    setFlagsFromString(flag);
}

/** The part of `keepHeapSmall` that is safe with locked memory. */
export function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Turns off compilation to machine code, for a process that has done its work and waits: compiler threads keep 1 to 2
 * MB in their own arenas. Call it after everything has been loaded, because changed flags make V8 reject the code cache
 * of Node's own modules, which costs 20 ms.
 */
export function endJustInTimeCompilation(): void {
  for (const flag of ['--no-opt', '--no-maglev', '--no-sparkplug']) setFlagsFromString(flag);
}

const levels = 8;
/**
 * Undeclared arguments are also pushed onto the stack: the first is the number of remaining levels, followed by 8 KiB.
 */
const levelArguments = new Array<number>(1025).fill(0);

let due = false;

/**
 * Overwrites 64 KiB of the stack, where native functions leave data: node:tls decrypts into a 16 KiB array there.
 * Deferred, because socket callbacks run inside those functions.
 */
export function overwriteStackSoon(): void {
  if (due) return;
  due = true;
  setImmediate(() => {
    due = false;
    overwriteStack();
  });
}

function overwriteStack(left = levels): void {
  if (left === 0) return;
  levelArguments[0] = left - 1;
  Reflect.apply(overwriteStack, undefined, levelArguments);
}
