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
