import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

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
