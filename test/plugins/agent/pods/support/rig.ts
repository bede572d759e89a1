import {
  type PodWatch,
  type PodWatchOptions,
  startPodWatch,
} from '../../../../../src/plugins/agent/pods/start-pod-watch.ts';
import { createMetrics } from '../../../../../src/runtime/health/create-metrics.ts';
import { createHealth, type HealthSnapshot } from '../../../../../src/runtime/health/health.ts';
import { waitFor } from '../../../../support/wait-for.ts';
import { recordingLog } from '../../access-events/recording-log.ts';
import { createFakeGuard, type FakeGuard } from './fake-guard.ts';

export interface PodRig {
  readonly watch: PodWatch;
  readonly guard: FakeGuard;
  readonly lines: ReturnType<typeof recordingLog>['lines'];
  metric(name: string): Promise<number | undefined>;
  degraded(): HealthSnapshot['degraded'];
  facts(): HealthSnapshot['facts'];
  labelled(): readonly string[];
  /** How often other pods were covered. */
  readonly changes: number;
  logged(event: string): Promise<unknown>;
}

const timing = { stableMs: 20, initialBackoffMs: 20, maxBackoffMs: 100 };

/** A pod watch of the node `here` with a guard that remembers. */
export async function startRig(
  options: Pick<PodWatchOptions, 'cgroupRoot' | 'env'> & { guard?: FakeGuard; node?: string },
): Promise<PodRig> {
  const { guard = createFakeGuard(), node = 'here', cgroupRoot, env = {} } = options;
  const health = createHealth();
  const metrics = await createMetrics({ version: '0', component: 'agent' });
  const { log, lines } = recordingLog();
  const { signal } = new AbortController();
  let changes = 0;
  const onChange = () => {
    changes += 1;
  };
  const watch = startPodWatch({
    ...{ node, cgroupRoot, env, guard, log, metrics, health, signal, timing, onChange, startingMs: 500 },
  });
  return {
    ...{ watch, guard, lines },
    async metric(name) {
      const { body } = await metrics.expose();
      const value = new RegExp(`^${name} (.+)$`, 'm').exec(body)?.[1];
      return value === undefined ? undefined : Number(value);
    },
    degraded: () => health.snapshot().degraded,
    facts: () => health.snapshot().facts,
    labelled: () => watch.labelled().map(({ uid }) => uid),
    get changes() {
      return changes;
    },
    logged: (event) =>
      waitFor(`the log line ${event}`, () => lines.some((line) => line.event === event), {
        details: () => JSON.stringify(lines),
      }),
  };
}
