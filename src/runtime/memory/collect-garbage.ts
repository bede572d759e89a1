import { setFlagsFromString } from 'node:v8';

/**
 * A full collection, at most once in `everyMs`. For a process that is idle between short pieces of work: left to itself
 * V8 would let dead buffers, whose bytes lie outside of its heap, gather for hours.
 */
export function createCollector(everyMs: number): () => void {
  let gc: (() => void) | undefined;
  let next = 0;
  return () => {
    const now = performance.now();
    if (now < next) return;
    next = now + everyMs;
    gc ??= exposed();
    gc();
  };
}

/** Contexts that are made after the flag was set have `gc`. The module is loaded late: a start has no need of it. */
function exposed(): () => void {
  setFlagsFromString('--expose-gc');
  return process.getBuiltinModule('node:vm').runInNewContext('gc') as () => void;
}
