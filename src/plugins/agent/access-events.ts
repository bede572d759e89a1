import type { Metrics } from '../../runtime/health/health.ts';
import type { LogFields, Logger } from '../../runtime/logging/logger.ts';
import type { AccessEvent } from '../../runtime/protocols/protection/bpf-layouts.ts';
import type { AccessEventListener } from './guard/contract.ts';
import { bootTime } from './guard/map-readings.ts';
import type { ObservedAccessEvent, OperatorChannel } from './operator/contract.ts';
import type { PodResolver } from './pods/pod-cgroups.ts';
import type { PodWatch } from './pods/start-pod-watch.ts';

export interface AccessEventSinkParts {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly resolver: Pick<PodResolver, 'podOfCgroup'>;
  readonly nameOf: PodWatch['nameOf'];
  /** Reports to the operator. */
  readonly channel: Pick<OperatorChannel, 'hit'>;
  readonly clock: Clock;
}

const linesPerSecond = 20;

/** Passes every access event to the metrics and the operator, and to the log within its rate limit. */
export function createAccessEventSink({
  log,
  metrics,
  resolver,
  nameOf,
  channel,
  clock,
}: AccessEventSinkParts): AccessEventListener {
  const count = metrics.counter(
    'svc_agent_hits_total',
    'Access attempts on protected processes, by attack path and outcome',
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
      log.warn(`hit.${outcome}`, describeAccessEvent(observed, nameOf));
    }
  };
}

function observer(
  resolver: AccessEventSinkParts['resolver'],
  clock: Clock,
): (hit: AccessEvent) => ObservedAccessEvent {
  return (hit) => ({
    ...hit,
    at: clock.wallTime(hit.time),
    syscallName: syscallName(hit.syscall),
    sourcePod: resolver.podOfCgroup(hit.source.cgroup),
    targetPod: hit.target.pid === 0 ? undefined : resolver.podOfCgroup(hit.target.cgroup),
  });
}

/** An access event as fields of a log line. */
function describeAccessEvent(hit: ObservedAccessEvent, nameOf: PodWatch['nameOf']): LogFields {
  const from = nameOf(hit.source.cgroup);
  const to = nameOf(hit.target.cgroup);
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
    ...(from && { source_pod_name: from.pod, source_container: from.container }),
    // An attack path to all memory has no single target.
    ...(target.pid !== 0 && { target_pid: target.pid, target_comm: target.comm, target_pod: targetPod }),
    ...(target.pid !== 0 && to && { target_pod_name: to.pod, target_container: to.container }),
  };
}

const secondMs = 1_000;

/**
 * Lets `most` lines pass per second, and reports at the end of each second how many were held back.
 * @param more called with the number of lines held back
 * @returns a function that tells how many of the wanted lines may be written now
 */
function limitedLines(
  most: number,
  clock: Pick<Clock, 'after'>,
  more: (count: number) => void,
): (wanted: number) => number {
  let asked: number | undefined;
  const endSecond = () => {
    const held = (asked ?? 0) - most;
    asked = undefined;
    if (held > 0) more(held);
  };
  return (wanted) => {
    if (asked === undefined) {
      asked = 0;
      clock.after(secondMs, endSecond);
    }
    const room = Math.max(0, most - asked);
    asked += wanted;
    return Math.min(room, wanted);
  };
}

/** System calls that can cause an access event: the number on x64, then on arm64. */
const numbers: Readonly<Record<string, readonly [x64: number, arm64: number | undefined]>> = {
  // Opening
  open: [2, undefined],
  creat: [85, undefined],
  openat: [257, 56],
  openat2: [437, 437],
  open_by_handle_at: [304, 265],
  // Reading and writing opened files
  read: [0, 63],
  write: [1, 64],
  pread64: [17, 67],
  pwrite64: [18, 68],
  readv: [19, 65],
  writev: [20, 66],
  sendfile: [40, 71],
  splice: [275, 76],
  preadv: [295, 69],
  pwritev: [296, 70],
  copy_file_range: [326, 285],
  preadv2: [327, 286],
  pwritev2: [328, 287],
  io_submit: [209, 2],
  io_uring_enter: [426, 426],
  // Another process's memory, descriptors and limits
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  perf_event_open: [298, 241],
  prlimit64: [302, 261],
};

type Architecture = 'x64' | 'arm64';

const names: Readonly<Record<Architecture, ReadonlyMap<number, string>>> = {
  x64: new Map(Object.entries(numbers).map(([name, [x64]]) => [x64, name])),
  arm64: new Map(
    Object.entries(numbers).flatMap(([name, [, arm64]]) => (arm64 === undefined ? [] : [[arm64, name]])),
  ),
};

/** Undefined for other numbers, and on other architectures. */
export function syscallName(number: number, arch: string = process.arch): string | undefined {
  return arch === 'x64' || arch === 'arm64' ? names[arch].get(number) : undefined;
}

interface Clock {
  /** Converts nanoseconds since boot to nanoseconds since 1970, to 10 ms; follows changes of the node's clock. */
  wallTime(sinceBoot: bigint): bigint;
  after(milliseconds: number, run: () => void): void;
}

export interface TimeSources {
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Nanoseconds since boot. */
  readonly boot: () => bigint;
  /** Milliseconds of a monotonic clock. */
  readonly steady: () => number;
}

const system: TimeSources = { wall: Date.now, boot: bootTime, steady: () => performance.now() };

const lookEveryMs = 1_000;
/** The readings are coarse: following smaller differences could reverse the order of consecutive access events. */
const jitter = 50_000_000n;

export function createClock({ wall, boot, steady }: TimeSources = system): Clock {
  let bootedAt: bigint | undefined;
  let lookedAt = 0;
  const look = () => {
    const now = BigInt(wall()) * 1_000_000n - boot();
    if (bootedAt === undefined || now - bootedAt > jitter || bootedAt - now > jitter) bootedAt = now;
    lookedAt = steady();
    return bootedAt;
  };
  return {
    wallTime(sinceBoot) {
      const isFresh = bootedAt !== undefined && steady() - lookedAt < lookEveryMs;
      return sinceBoot + (isFresh && bootedAt !== undefined ? bootedAt : look());
    },
    after(milliseconds, run) {
      setTimeout(run, milliseconds).unref();
    },
  };
}
