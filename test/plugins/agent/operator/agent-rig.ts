import type { Timings } from '../../../../src/plugins/agent/operator/channel.ts';
import type {
  NodeState,
  ObservedAccessEvent,
  OperatorAddress,
  OperatorChannel,
  TlsPaths,
} from '../../../../src/plugins/agent/operator/contract.ts';
import { startOperatorChannel } from '../../../../src/plugins/agent/operator/start-operator-channel.ts';
import type { Metrics } from '../../../../src/runtime/health/health.ts';
import { createLeanMetrics } from '../../../../src/runtime/health/plain-metrics.ts';
import { type LogLine, recordingLog } from '../access-events/recording-log.ts';

export interface AgentRig {
  readonly channel: OperatorChannel;
  readonly lines: readonly LogLine[];
  readonly metrics: Metrics;
  /** What the channel is told when it asks. */
  state: NodeState;
  /** The value of a line of `/metrics`. */
  metric(line: string): Promise<number | undefined>;
}

export interface RigOptions {
  readonly address: OperatorAddress;
  readonly tls: TlsPaths;
  readonly tokenPath?: string;
  readonly node?: string;
  readonly timings?: Partial<Timings>;
  readonly signal?: AbortSignal;
}

/** Short where the channel waits, long where it must not. */
const quick: Partial<Timings> = { change: 20, batch: 20, backoffInitial: 20, backoffMax: 100 };

let instances = 0;

export function startAgent({
  address,
  tls,
  tokenPath,
  node = 'node-1',
  timings,
  signal,
}: RigOptions): AgentRig {
  const { log, lines } = recordingLog();
  const metrics = createLeanMetrics();
  instances += 1;
  const rig = { lines, metrics, state: calmState() };
  const channel = startOperatorChannel({
    address,
    tls,
    tokenPath,
    node,
    instance: `instance-${instances}`,
    version: '1.2.3',
    log,
    metrics,
    signal: signal ?? new AbortController().signal,
    state: () => rig.state,
    timings: { ...quick, ...timings },
  });
  const metric = async (line: string) => {
    const { body } = await metrics.expose();
    const found = body.split('\n').find((one) => one.startsWith(`${line} `));
    return found === undefined ? undefined : Number(found.slice(line.length));
  };
  return Object.assign(rig, { channel, metric });
}

export function calmState(): NodeState {
  return {
    tier: 1,
    enforcing: true,
    reason: '',
    passedOver: [],
    enforceMode: true,
    pods: [],
  };
}

/** @param pid of the source; hits of one source are equal */
export function accessEventBy(pid: number, more: Partial<ObservedAccessEvent> = {}): ObservedAccessEvent {
  return {
    time: 5_000_000_000n,
    at: 1_700_000_000_000_000_000n + BigInt(pid),
    road: 'environ',
    outcome: 'denied',
    syscall: 257,
    syscallName: 'openat',
    source: { pid, tid: pid, uid: 1000, comm: 'cat', cgroup: 41n },
    target: { pid: 7, start: 1_234n, comm: 'app', cgroup: 42n },
    sourcePod: undefined,
    targetPod: 'b6a1c1de-0000-4000-8000-000000000001',
    ...more,
  };
}
