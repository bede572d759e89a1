import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { type: 'minor' }) => void;

/** About a millisecond of collecting for this many bytes. */
const collectAfter = 2 * 1024 * 1024;

let waiting = 0;
let collect: Collect | undefined;

/**
 * To be told of buffers that have served: sockets and ciphers give each chunk out in a new
 * one. Left to itself V8 lets hundreds of megabytes of them stand before it looks, because they
 * lie outside its heap; collecting the young generation every few megabytes keeps a process that
 * streams flat, and spares it the page faults of ever new memory.
 */
export function droppedBuffers(bytes: number): void {
  waiting += bytes;
  if (waiting < collectAfter) return;
  waiting = 0;
  collect ??= findCollector();
  collect({ type: 'minor' });
}

function findCollector(): Collect {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collect;
}
