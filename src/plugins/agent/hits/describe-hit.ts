import type { LogFields } from '../../../runtime/logging/logger.ts';
import type { ObservedHit } from './observed-hit.ts';

/** A hit as the fields of a line of the log. */
export function describeHit(hit: ObservedHit): LogFields {
  const { source, target, syscall, syscallName, sourcePod, targetPod } = hit;
  return {
    road: hit.road,
    outcome: hit.outcome,
    syscall: syscallName ?? String(syscall),
    at: new Date(Number(hit.at / 1_000_000n)).toISOString(),
    source_pid: source.pid,
    source_comm: source.comm,
    source_uid: source.uid,
    source_pod: sourcePod,
    // Of a road to all memory there is no one target.
    ...(target.pid === 0 ? {} : { target_pid: target.pid, target_comm: target.comm, target_pod: targetPod }),
  };
}
