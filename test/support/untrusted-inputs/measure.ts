import { GCProfiler, getHeapStatistics } from 'node:v8';
import { collectYoung } from '../collect-garbage.ts';

/** What the parse of one input took. */
export interface Cost {
  /** Bytes allocated, garbage included, in V8's heap and outside of it. */
  readonly allocated: number;
  /** CPU time of the thread. */
  readonly cpuMs: number;
}

/**
 * What `act` costs. Bytes are what is there afterwards more than before, and what was collected meanwhile, so it does
 * not matter when V8 collects; the code that V8 compiles meanwhile counts with it. What `act` throws is thrown.
 */
export function measure(act: () => unknown): Cost {
  // V8 releases what a collection found dead later, on another thread: it would be taken from what `act` allocates.
  collectYoung();
  const profiler = new GCProfiler();
  profiler.start();
  const before = heldBytes();
  const from = process.threadCpuUsage();
  act();
  const { user, system } = process.threadCpuUsage(from);
  const after = heldBytes();
  const collected = (profiler.stop()?.statistics ?? []).reduce(
    (sum, { beforeGC, afterGC }) => sum + sizeIn(beforeGC) - sizeIn(afterGC),
    0,
  );
  return { allocated: after - before + collected, cpuMs: (user + system) / 1000 };
}

/** Buffers stand outside of V8's heap, and it accounts for them. */
function heldBytes(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

type Collection = NonNullable<ReturnType<GCProfiler['stop']>>['statistics'][number];

const sizeIn = ({ heapStatistics }: Collection['beforeGC']): number =>
  heapStatistics.usedHeapSize + heapStatistics.externalMemory;
