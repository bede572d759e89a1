import { totalmem } from 'node:os';
import { KeptRoom } from '../../cluster/kube/kept-room.ts';
import type { Marking } from '../../cluster/kube/marks.ts';
import type { Keeping } from '../../cluster/kube/object-keeper.ts';
import type { Metrics } from '../../runtime/health/health.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { RateLimitedLog } from '../../runtime/logging/rate-limited-log.ts';

/** How much is kept of the objects of a kind, in the room of all. */
export type KeepingOf = <T extends Named>(resource: string, marking: Marking<T>) => Keeping<T>;

interface Named {
  readonly name: string;
  readonly namespace?: string;
}

const MiB = 1024 * 1024;
/** What the operator takes beside the objects, most of it for reviews. */
const ownMemory = 112 * MiB;
const leastRoom = 16 * MiB;
const mostRoom = 512 * MiB;

/** 16 MiB in a container of 128 MiB, and half of what a larger one has more. */
export function roomWithin(memory: number): number {
  return Math.min(mostRoom, leastRoom + Math.max(0, memory - ownMemory - leastRoom) / 2);
}

/** 0 or a number beyond the machine's memory: no limit. */
function memoryOfContainer(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}

const lines = { burst: 20, everyMs: 10_000 };

/** Of the room. What is larger, or finds no room, takes this part; a mark has some 0.6 KB. */
const shareOfMarks = 1 / 8;

/** The room of all objects; says in the log and a metric what does not fit. */
export function createClusterRoom(
  log: Logger,
  metrics: Metrics,
  bytes = roomWithin(memoryOfContainer()),
): KeepingOf {
  const room = new KeptRoom(bytes * (1 - shareOfMarks));
  const roomOfMarks = new KeptRoom(bytes * shareOfMarks);
  const marks = metrics.gauge(
    'svc_cluster_objects_too_large',
    'Objects that are too large to be kept beside the others of their namespace',
    ['resource'],
  );
  return (resource, marking) => {
    const limitedLog = new RateLimitedLog(log, lines);
    marks.set(0, { resource });
    return {
      ...{ room, roomOfMarks, ...marking },
      onMarked: ({ namespace, name }) =>
        limitedLog.warn('cluster.object.too_large', (leftOut) => ({
          ...{ resource, namespace, name },
          linesLeftOut: leftOut || undefined,
        })),
      onMarks: (count) => marks.set(count, { resource }),
    };
  };
}
