import type { KubeClient } from '../../../../src/cluster/kube/client.ts';
import { createElector, type Elector, type ElectorOptions } from '../../../../src/cluster/kube/elector.ts';
import type { Logger } from '../../../../src/runtime/logging/logger.ts';

/** One that takes part in an election, and what it was told. */
export interface Replica {
  readonly name: string;
  readonly elector: Elector;
  readonly told: readonly boolean[];
  readonly log: readonly string[];
  stop(): Promise<void>;
}

export interface ReplicaOptions extends Partial<ElectorOptions> {
  readonly client: KubeClient;
  readonly name: string;
}

export const times = { leaseMs: 1_000, renewMs: 600, retryMs: 60 };

export function startReplica({ name, ...options }: ReplicaOptions): Replica {
  const controller = new AbortController();
  const log: string[] = [];
  const told: boolean[] = [];
  const elector = createElector({
    ...{ namespace: 'svc-system', identity: name, ...times },
    ...options,
    name: 'svc-operator',
    ...{ log: recorder(log), signal: controller.signal },
  });
  elector.onChange((leading) => told.push(leading));
  return {
    ...{ name, elector, told, log },
    async stop() {
      controller.abort();
      await elector.closed;
    },
  };
}

function recorder(lines: string[]): Logger {
  const write = (event: string, fields?: object) =>
    void lines.push(`${event} ${JSON.stringify(fields ?? {})}`);
  const log: Logger = { debug: write, info: write, warn: write, error: write, child: () => log };
  return log;
}

/** Looks again and again who leads; `stop` says how often more than one did. */
export function watchLeaders(replicas: () => readonly Replica[]) {
  let worst = 0;
  const look = () => {
    worst = Math.max(worst, replicas().filter(({ elector }) => elector.leading).length);
  };
  const timer = setInterval(look, 2);
  return {
    look,
    stop() {
      clearInterval(timer);
      return worst;
    },
  };
}

export function leaderOf(replicas: readonly Replica[]): Replica | undefined {
  return replicas.find(({ elector }) => elector.leading);
}
