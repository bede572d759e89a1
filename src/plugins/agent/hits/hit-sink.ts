import type { Hit } from '../../../core/protection/hit.ts';
import type { Metrics } from '../../../runtime/health/metrics.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import type { HitListener } from '../guard/contract.ts';
import type { OperatorChannel } from '../operator/contract.ts';
import type { PodResolver } from '../pods/pod-resolver.ts';
import type { Clock } from './clock.ts';
import { describeHit } from './describe-hit.ts';
import { limitedLines } from './limited-lines.ts';
import type { ObservedHit } from './observed-hit.ts';
import { syscallName } from './syscall-name.ts';

export interface HitSinkParts {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly resolver: Pick<PodResolver, 'podOfCgroup'>;
  /** Tells the operator. */
  readonly channel: Pick<OperatorChannel, 'hit'>;
  readonly clock: Clock;
}

const linesPerSecond = 20;

/** Where hits go: all to the metrics and the operator, and to the log as far as it has room for them. */
export function createHitSink({ log, metrics, resolver, channel, clock }: HitSinkParts): HitListener {
  const count = metrics.counter(
    'svc_agent_hits_total',
    'Attempts on protected processes by others, by the road they took and what was done about it',
    ['road', 'outcome'],
  );
  const mayLog = limitedLines(linesPerSecond, clock, (more) => log.warn('hits.more', { more }));
  const observe = observer(resolver, clock);
  return (hit, times) => {
    const { road, outcome } = hit;
    count.inc({ road, outcome }, times.count);
    const observed = observe(hit);
    channel.hit(observed, times.count, clock.wallTime(times.last));
    for (let lines = mayLog(times.count); lines > 0; lines -= 1) {
      log.warn(`hit.${outcome}`, describeHit(observed));
    }
  };
}

function observer(resolver: HitSinkParts['resolver'], clock: Clock): (hit: Hit) => ObservedHit {
  return (hit) => ({
    ...hit,
    at: clock.wallTime(hit.time),
    syscallName: syscallName(hit.syscall),
    sourcePod: resolver.podOfCgroup(hit.source.cgroup),
    targetPod: hit.target.pid === 0 ? undefined : resolver.podOfCgroup(hit.target.cgroup),
  });
}
