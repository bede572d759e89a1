import { type KubeClient, type KubeObject, keyOf } from '../../src/cluster/kube/client.ts';
import { reflect } from '../../src/cluster/kube/reflect.ts';
import { quietLog } from '../../test/support/quiet-log.ts';
import type { Row, Table } from '../harness/bench.ts';
import { quantile } from '../harness/quantile.ts';
import { forAll } from './populate.ts';
import { namespaceOf, type Size, serviceConfigName, serviceConfigPath } from './population.ts';

const single = 100;

interface ServiceConfigObject extends KubeObject {
  readonly status?: { readonly observedGeneration?: number };
}

/** From the API server's answer to a change until its status says that the operator has seen it. */
export async function measureReconciling(
  client: KubeClient,
  size: Size,
  say: (progress: string) => void,
): Promise<Table> {
  const ended = new AbortController();
  const observed = followObserved(client, ended.signal);
  await observed.synced;
  try {
    say('reconciling: one change after the other');
    const alone: number[] = [];
    for (let index = 0; index < single; index++) alone.push(await change(client, index, size, observed));
    say('reconciling: all at once');
    const together: number[] = [];
    await forAll(size.serviceConfigs, async (index) => {
      together.push(await change(client, index, size, observed));
    });
    return tableOf(size, alone, together);
  } finally {
    ended.abort();
    await observed.closed;
  }
}

interface Observed {
  readonly synced: Promise<void>;
  readonly closed: Promise<void>;
  /** Resolves with the time at which this generation of that object was seen to be observed. */
  reached(key: string, generation: number): Promise<number>;
}

function followObserved(client: KubeClient, signal: AbortSignal): Observed {
  const waiting = new Map<string, { generation: number; resolve: (at: number) => void }>();
  const look = ({ key, generation }: { key: string; generation: number }) => {
    const waiter = waiting.get(key);
    if (waiter === undefined || generation < waiter.generation) return;
    waiting.delete(key);
    waiter.resolve(performance.now());
  };
  const reflector = reflect({
    ...{ client, signal, log: quietLog, path: '/apis/svc.io/v1alpha1/serviceconfigs' },
    project: (object: ServiceConfigObject) => ({
      key: keyOf(object),
      generation: object.status?.observedGeneration ?? 0,
    }),
    ...{ onAdd: look, onChange: look },
  });
  return {
    synced: reflector.whenSynced(),
    closed: reflector.closed,
    reached(key, generation) {
      const known = reflector.get(key)?.generation ?? 0;
      if (known >= generation) return Promise.resolve(performance.now());
      return new Promise((resolve) => waiting.set(key, { generation, resolve }));
    },
  };
}

async function change(client: KubeClient, index: number, size: Size, observed: Observed): Promise<number> {
  const name = serviceConfigName(index);
  const body = { spec: { renewalInterval: `${10 + Math.floor(Math.random() * 1_000)}m${index % 60}s` } };
  const { metadata } = await client.request<{ metadata: { generation: number } }>({
    ...{ method: 'PATCH', path: `${serviceConfigPath(index, size)}/${name}`, body },
    contentType: 'application/merge-patch+json',
  });
  const began = performance.now();
  const key = `${namespaceOf(index % size.namespaces)}/${name}`;
  return (await observed.reached(key, metadata.generation)) - began;
}

function tableOf({ serviceConfigs }: Size, alone: readonly number[], together: readonly number[]): Table {
  return {
    title: `From a change of a ServiceConfig, one of ${serviceConfigs}, to its new status, in ms`,
    columns: ['p50', 'p99', 'most'],
    rows: [
      row(`${single} changes, one after the other`, alone),
      row(`${serviceConfigs} changes, 16 at once`, together),
      { name: 'aim', cells: [undefined, 1_000, undefined] },
    ],
    notes: ['The operator gathers the changes of one object for 200 ms, which is part of each figure.'],
  };
}

function row(name: string, values: readonly number[]): Row {
  return { name, cells: [quantile(values, 0.5), quantile(values, 0.99), Math.max(...values)] };
}
