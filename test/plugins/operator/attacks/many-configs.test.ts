import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createWorkQueue } from '../../../../src/cluster/kube/work-queue.ts';
import type { KnownPod, KnownServiceConfig } from '../../../../src/plugins/operator/cluster-view.ts';
import {
  type StartControllers,
  startControllers,
} from '../../../../src/plugins/operator/controllers/start-controllers.ts';
import { createReconcile, type LookOptions } from '../../../../src/plugins/operator/egress/reconcile.ts';
import { createTerm, defaultTuning } from '../../../../src/plugins/operator/egress/term.ts';
import { createMetrics } from '../../../../src/runtime/health/create-metrics.ts';
import { createHealth } from '../../../../src/runtime/health/health.ts';
import { fakeClient } from '../../../support/fake-client.ts';
import { quietLog } from '../../../support/quiet-log.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { adjustableLeadership } from '../leadership.ts';
import { fakeCluster } from '../score/fake-cluster.ts';

const test = suite('a namespace full of ServiceConfigs and pods');
const namespace = 'team';

/** Counts how often its selector is asked for. */
function config(index: number, asked: { count: number }): KnownServiceConfig {
  const name = `c${index}`;
  const selector = { matchExpressions: [{ key: 'app', operator: 'In' as const, values: [`none-${index}`] }] };
  const spec = {
    vault: { address: 'https://192.0.2.7:8200', role: 'app' },
    secretPaths: ['secret/a'],
    get selector() {
      asked.count += 1;
      return selector;
    },
  };
  const created = '2026-11-28T00:00:00Z';
  return {
    key: `${namespace}/${name}`,
    namespace,
    name,
    uid: name,
    generation: 1,
    created,
    spec,
    status: {},
  };
}

function pod(index: number, labels: Readonly<Record<string, string>>): KnownPod {
  const name = `p${index}`;
  const metadata = { name, namespace, labels };
  return {
    ...{ key: `${namespace}/${name}`, namespace, name, uid: name },
    pod: { metadata, spec: { containers: [{ name: 'app' }] } },
  };
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);
const labelsOf = (index: number) => ({ 'svc/protected': 'true', app: `a-${index}` });

/** How often all other work has its turn until the work is done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let [turns, done] = [0, false];
  void work.finally(() => {
    done = true;
  });
  for (; !done; turns += 1) await turn();
  return turns;
}

async function reconcile(configs: readonly KnownServiceConfig[], pods: readonly KnownPod[]): Promise<number> {
  const { signal } = new AbortController();
  const client = fakeClient(
    async <T>({ path }: { readonly path: string }) =>
      (/s$/.test(path) ? { metadata: { resourceVersion: '1' }, items: [] } : {}) as T,
  );
  const look = createReconcile({
    tuning: defaultTuning,
    deps: {
      ...{ client, log: quietLog, defaults: {}, namespace: 'svc-system' },
      cluster: { namespaces: { get: () => ({ name: namespace, labels: {}, terminating: false }) } },
    },
    indexes: { pods: { in: () => pods }, serviceConfigs: { in: () => configs } },
    policies: { get: () => undefined, values: () => [], onChange: () => {} },
  } as unknown as LookOptions);
  const resolver = async () => ({ addresses: [], failed: false });
  return turnsDuring(
    look(
      namespace,
      createTerm(client, resolver, defaultTuning, () => {}),
      signal,
    ),
  );
}

test('lets others go while its egress policy is made', async () => {
  const asked = { count: 0 };
  const configs = numbers(1_000).map((index) => config(index, asked));
  const turns = await reconcile(
    configs,
    numbers(2_000).map((index) => pod(index, labelsOf(index))),
  );
  assert.ok(asked.count >= 2_000_000, `${asked.count}`);
  assert.ok(turns > 2, `${turns} turns`);
});

test('has its ServiceConfigs asked once for all pods with the same labels', async () => {
  const asked = { count: 0 };
  const configs = numbers(100).map((index) => config(index, asked));
  const labels = labelsOf(0);
  await reconcile(
    configs,
    numbers(1_000).map((index) => pod(index, labels)),
  );
  assert.is(asked.count, 100);
});

test('lets others go between objects of which nothing has to be written', async () => {
  const stop = new AbortController();
  const all = Promise.withResolvers<void>();
  let done = 0;
  const work = async () => {
    done += 1;
    if (done === 1_000) all.resolve();
    return 'done' as const;
  };
  const queue = createWorkQueue({ work, signal: stop.signal });
  for (const index of numbers(1_000)) queue.add(`c${index}`);
  const turns = await turnsDuring(all.promise);
  stop.abort();
  assert.ok(turns > 10, `${turns} turns`);
});

/** Controllers that have ended their first pass over 50 ServiceConfigs; `more` says how many reconciliations follow. */
async function settledControllers() {
  const stop = new AbortController();
  const cluster = fakeCluster();
  const metrics = await createMetrics({ version: '0', component: 'operator' });
  cluster.namespaces.put(namespace, {
    name: namespace,
    labels: { 'svc/protected': 'true' },
    terminating: false,
  });
  const configs = numbers(50).map((index) => config(index, { count: 0 }));
  for (const one of configs) cluster.serviceConfigs.put(one.key, one);
  const { closed } = await startControllers({
    ...{ client: fakeClient(async <T>() => ({}) as T), metrics, cluster: cluster.view, log: quietLog },
    ...{ leadership: adjustableLeadership(true), identity: 'test', namespace: 'svc-system' },
    ...{ defaults: { vaultAddress: undefined, development: false }, authorityPaths: {} },
    ...{ signal: stop.signal, health: createHealth() },
  } as unknown as StartControllers);
  const line = /^controller_runtime_reconcile_total\{(?=.*service-config)(?=.*success).*\} (\d+)/m;
  const count = async () => Number(line.exec((await metrics.expose()).body)?.[1] ?? 0);
  let last = 0;
  const more = async (least: number) => {
    const before = last;
    await waitFor('reconciliations', async () => (await count()) >= before + least);
    await sleep(500);
    last = await count();
    return last - before;
  };
  assert.is(await more(50), 50);
  const end = async () => {
    stop.abort();
    await closed;
  };
  return { cluster, configs, more, end };
}

test('is not judged anew for each status that the operator writes', async () => {
  const { cluster, configs, more, end } = await settledControllers();
  const [one] = configs;
  assert.ok(one);
  cluster.serviceConfigs.put(one.key, Object.create(one, { status: { value: { matchedPods: 7 } } }));
  assert.is(await more(1), 1);
  cluster.serviceConfigs.put(one.key, Object.create(one, { generation: { value: 2 } }));
  assert.is(await more(50), 50);
  await end();
});

test('is judged anew for a pod only where that counts', async () => {
  const { cluster, more, end } = await settledControllers();
  const put = (known: KnownPod) => cluster.pods.put(known.key, known);
  put(pod(0, { app: 'none-7' }));
  assert.is(await more(1), 1);
  put(pod(0, { app: 'none-8' }));
  assert.is(await more(2), 2);
  cluster.pods.remove(pod(0, {}).key);
  assert.is(await more(1), 1);
  await end();
});

test.run();
