import { setFlagsFromString } from 'node:v8';

/** Memory that is zeroed on release. */
export interface ByteBlock {
  /** Bytes, at least as many as were asked for. */
  readonly length: number;
  /** In place. @throws TypeError after `release` */
  readonly bytes: Buffer;
  /** Zeroes it. Repeated calls have no effect. */
  release(): void;
}

export interface ByteMemory {
  allocate(length: number): ByteBlock;
}

const smallest = 4096;
const largestKept = 64 * 1024;
const mostKept = 32;

/**
 * Reused blocks outside V8's heap, for buffers that hold keys during a call. Unlike secret memory they cost no system
 * call, and may be swapped out.
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
 * Zeroed memory that is never moved: small arrays (up to 64 bytes) lie in V8's heap, whose collector leaves copies
 * behind.
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
 * Frees the memory of a buffer at once instead of leaving it to the garbage collector: V8 counts a buffer of 64 KiB as
 * a few bytes of its heap and lets hundreds of megabytes of dead ones accumulate. Call it only once nobody reads from
 * the buffer any more, including the operating system, which does so until the callback of a write. A part of a larger
 * block is left alone.
 */
export function release(buffer: Buffer): void {
  const { buffer: block } = buffer;
  if (buffer.length > 0 && buffer.length === block.byteLength && block instanceof ArrayBuffer)
    block.transfer(0);
}

/**
 * Makes malloc keep freed blocks of up to 4 MiB, for a process that allocates large buffers all the time: by default,
 * glibc maps each of more than 128 KiB anew, page by page. It adapts to the largest block that was freed.
 */
export function keepFreedBlocks(): void {
  new ArrayBuffer(4 * 1024 * 1024).transfer(0);
}

/**
 * Whether this process has more resident bytes; true if that cannot be read, for example without a free file
 * descriptor.
 */
export function isLargerThan(bytes: number, resident = process.memoryUsage.rss): boolean {
  try {
    return resident() > bytes;
  } catch {
    return true;
  }
}

/**
 * A full collection, at most once in `everyMs`. For a process that is idle between short pieces of work: by itself V8
 * would let dead buffers, whose bytes lie outside its heap, accumulate for hours.
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
 * V8's own function for it. The `gc` of `--expose-gc` also returns pages to the kernel, which ends a process with
 * locked memory (Node 24).
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
 * and the old one grows little between two collections. Costs about a tenth of the CPU time of small requests; saves
 * 130 MB of resident memory under load. Call it early, because the heap seldom returns memory. Not for a process with
 * locked memory: returning pages fails there, which V8 treats as fatal.
 */
export function keepHeapSmall(): void {
  keepYoungGenerationSmall();
  setFlagsFromString('--optimize-for-size');
}

/**
 * The same for a process that serves many small requests: a fifth less processor time for the same memory. The old
 * generation may grow by 30 % between two collections, and V8 compiles in one step instead of two, because its Maglev
 * compiler takes up to 20 MiB for a moment. The young generation is collected by one thread: waking helpers for so
 * little costs more than they save, and on busy processors every request waits for the last of them.
 */
export function keepHeapSmallUnderLoad(): void {
  keepYoungGenerationSmall();
  for (const flag of ['--heap-growing-percent=30', '--no-maglev', '--no-parallel-scavenge'])
    setFlagsFromString(flag);
}

/** The part of it that is safe for a process with locked memory. */
export function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Turns off compilation to machine code, for a process that has done its work and waits: compiler threads leave 1 to 2
 * MB in arenas of their own. Call it after everything has been loaded, because changed flags make V8 reject the code
 * cache of Node's own modules, which costs 20 ms.
 */
export function endJustInTimeCompilation(): void {
  for (const flag of ['--no-opt', '--no-maglev', '--no-sparkplug']) setFlagsFromString(flag);
}

const levels = 8;
/** Undeclared arguments are pushed onto the stack too: the first one says how many levels are left, 8 KiB follow. */
const levelArguments = new Array<number>(1025).fill(0);

let due = false;

/**
 * Overwrites 64 KiB of the stack, where native functions leave their data: node:tls decrypts into an array of 16 KiB
 * there. Deferred, because callbacks of a socket run inside those functions.
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
