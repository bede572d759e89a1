import { setFlagsFromString } from 'node:v8';

/**
 * A full collection, at most once in `everyMs`. For a process that is idle between short pieces of work: left to itself
 * V8 would let dead buffers, whose bytes lie outside of its heap, gather for hours.
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
 * V8's own function for it. The `gc` of `--expose-gc` also gives pages back to the kernel, which ends a process whose
 * memory is locked (Node 24).
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
 * Makes V8 collect instead of grow, for a process that lives in a small container: its young
 * generation stays at its first size, and the old one is let grow by little between two
 * collections. Costs about a tenth of the CPU time of small requests; saves 130 MB of resident
 * memory under load. To be called early: memory that the heap has taken it seldom gives back.
 * Not for a process whose memory is locked: pages are given back by calls that fail then, which V8 takes for fatal.
 */
export function keepHeapSmall(): void {
  keepYoungGenerationSmall();
  setFlagsFromString('--optimize-for-size');
}

/** The part of it that a process with locked memory survives. */
export function keepYoungGenerationSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/**
 * Ends compilation to machine code from now on, for a process that has done its work and waits: compiler threads
 * leave 1 to 2 MB in arenas of their own. To be called after everything has been loaded, because changed flags make
 * V8 refuse the code cache of Node's own modules, which costs 20 ms.
 */
export function endJustInTimeCompilation(): void {
  for (const flag of ['--no-opt', '--no-maglev', '--no-sparkplug']) setFlagsFromString(flag);
}

const levels = 8;
const perLevel = new Array<number>(1024).fill(0);

let due = false;

/**
 * Overwrites 64 KiB of the stack, where native functions have left what they worked on: node:tls decrypts into an array
 * of 16 KiB there. Later, because what a callback of a socket leads to runs inside the very functions whose leavings
 * are meant.
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
  // Arguments beyond the declared ones are laid on the stack as well.
  if (left > 0) Reflect.apply(overwriteStack, undefined, [left - 1, ...perLevel]);
}
