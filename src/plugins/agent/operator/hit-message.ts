import type { HitCount } from './hit-counts.ts';
import type { NumberedHit } from './hit-queue.ts';

/** svc.operator.v1.HitReport as grpc-js takes it. */
export function hitMessage({ number, count, first, lastAt }: NumberedHit): object {
  const { road, outcome, syscall, syscallName, at } = first;
  return {
    number,
    count,
    firstUnixNano: String(at),
    lastUnixNano: String(lastAt),
    road: roadName(road),
    outcome: outcomeName(outcome),
    syscall,
    syscallName: syscallName ?? '',
    source: sourceMessage(first),
    target: targetMessage(first),
  };
}

/** svc.operator.v1.HitCount as grpc-js takes it. */
export function countMessage({ road, outcome, count }: HitCount): object {
  return { road: roadName(road), outcome: outcomeName(outcome), count };
}

function sourceMessage({ source: { pid, uid, comm, cgroup }, sourcePod }: NumberedHit['first']): object {
  return { pid, uid, comm, cgroup: String(cgroup), podUid: sourcePod ?? '' };
}

function targetMessage({ target, targetPod }: NumberedHit['first']): object | null {
  const { pid, start, comm, cgroup } = target;
  if (pid === 0) return null;
  return { pid, start: String(start), comm, cgroup: String(cgroup), podUid: targetPod ?? '' };
}

const roadName = (road: string): string =>
  road === 'none' ? 'ROAD_UNSPECIFIED' : `ROAD_${road.toUpperCase()}`;
const outcomeName = (outcome: string): string => `OUTCOME_${outcome.toUpperCase()}`;
