import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Controller,
  type ControllerOptions,
  runController,
} from '../../../../src/plugins/operator/controllers/run-controller.ts';
import { createMetrics } from '../../../../src/runtime/health/create-metrics.ts';
import type { Metrics } from '../../../../src/runtime/health/health.ts';
import { quietLog } from '../../../support/quiet-log.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type AdjustableLeadership, adjustableLeadership } from '../leadership.ts';

interface Rig {
  stop: AbortController;
  leadership: AdjustableLeadership;
  metrics: Metrics;
  keys: Set<string>;
  done: string[];
  controllers: Controller[];
}

const test = suite<Rig>('controller');

test.before.each(async (rig) => {
  rig.stop = new AbortController();
  rig.leadership = adjustableLeadership(true);
  rig.metrics = await createMetrics({ version: '0', component: 'test' });
  rig.keys = new Set();
  rig.done = [];
  rig.controllers = [];
});

test.after.each(async ({ stop, controllers }) => {
  stop.abort();
  await Promise.all(controllers.map(({ closed }) => closed));
});

function run(rig: Rig, options: Partial<ControllerOptions> = {}): Controller {
  const controller = runController({
    ...{
      name: 'test',
      leadership: rig.leadership,
      metrics: rig.metrics,
      log: quietLog,
      signal: rig.stop.signal,
    },
    ...{ whenReady: async () => {}, keys: () => rig.keys, settleMs: 1, resyncMs: 0 },
    queue: { initialBackoffMs: 1, maxBackoffMs: 5 },
    async reconcile(key) {
      rig.done.push(key);
      return undefined;
    },
    ...options,
  });
  rig.controllers.push(controller);
  return controller;
}

const times = ({ done }: Rig, key: string) => done.filter((one) => one === key).length;

async function count({ metrics }: Rig, name: string): Promise<number> {
  const { body } = await metrics.expose();
  const line = body.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.split(' ')[1]);
}

test('reconciles all there are when it begins to lead, and what changes from then on', async (rig) => {
  rig.keys.add('a').add('b');
  const controller = run(rig);
  await waitFor('both', () => rig.done.length === 2);
  controller.enqueue('a');
  controller.enqueue('c');
  await waitFor('the changes', () => times(rig, 'a') === 2 && times(rig, 'c') === 1);
});

test('does nothing while another one leads', async (rig) => {
  rig.leadership.lead(false);
  rig.keys.add('a');
  const controller = run(rig);
  controller.enqueue('a');
  await sleep(30);
  assert.equal(rig.done, []);
  rig.leadership.lead(true);
  await waitFor('the first', () => rig.done.length === 1);
  rig.leadership.lead(false);
  controller.enqueue('a');
  await sleep(30);
  assert.equal(rig.done, ['a']);
});

test('begins only when what it reads is there', async (rig) => {
  const ready = Promise.withResolvers<void>();
  const controller = run(rig, { whenReady: () => ready.promise });
  controller.enqueue('too early');
  await sleep(20);
  rig.keys.add('a');
  ready.resolve();
  await waitFor('the first', () => rig.done.length > 0);
  assert.equal(rig.done, ['a']);
});

test('ends although what it reads never comes', async (rig) => {
  const controller = run(rig, { whenReady: () => new Promise(() => {}) });
  rig.stop.abort();
  await controller.closed;
});

test('makes a burst of changes one reconciliation', async (rig) => {
  const controller = run(rig, { settleMs: 100 });
  await sleep(10);
  for (let change = 0; change < 50; change++) controller.enqueue('a');
  await waitFor('the change', () => times(rig, 'a') > 0);
  await sleep(150);
  assert.is(times(rig, 'a'), 1);
});

test('tells the work that it leads no longer, and begins anew only when that has ended', async (rig) => {
  rig.keys.add('a');
  let under = 0;
  let most = 0;
  const signals: AbortSignal[] = [];
  const end = Promise.withResolvers<void>();
  run(rig, {
    async reconcile(key, signal) {
      signals.push(signal);
      most = Math.max(most, ++under);
      if (signals.length === 1) await end.promise;
      under--;
      rig.done.push(key);
      return undefined;
    },
  });
  await waitFor('the work', () => signals.length === 1);
  rig.leadership.lead(false);
  assert.ok(signals[0]?.aborted);
  rig.leadership.lead(true);
  await sleep(20);
  assert.is(signals.length, 1);
  end.resolve();
  await waitFor('the next term', () => rig.done.length === 2);
  assert.is(most, 1);
  assert.not(signals[1]?.aborted);
});

test('counts results as controller-runtime does', async (rig) => {
  const outcomes = [
    () => Promise.reject(new Error('made up')),
    async () => ({ requeue: true }) as const,
    async () => ({ requeueAfterMs: 1 }),
  ];
  rig.keys.add('a');
  run(rig, { reconcile: async () => outcomes.shift()?.() });
  const total = (result: string) =>
    count(rig, `controller_runtime_reconcile_total{controller="test",result="${result}"}`);
  await waitFor('a success', async () => (await total('success')) === 1);
  assert.is(await total('error'), 1);
  assert.is(await total('requeue'), 1);
  assert.is(await total('requeue_after'), 1);
  assert.is(await count(rig, 'controller_runtime_reconcile_errors_total{controller="test"}'), 1);
  assert.is(await count(rig, 'controller_runtime_reconcile_time_seconds_count{controller="test"}'), 4);
});

test('counts no failure where the term is over, though it has not been told yet', async (rig) => {
  rig.keys.add('a');
  const { onChange } = rig.leadership;
  run(rig, {
    leadership: { leading: false, onChange },
    async reconcile(key) {
      rig.done.push(key);
      throw new Error('not sent');
    },
  });
  await waitFor('an attempt', () => rig.done.length > 0);
  assert.is(await count(rig, 'controller_runtime_reconcile_errors_total{controller="test"}'), 0);
});

test('several controllers share the metrics, which are there before anything has happened', async (rig) => {
  rig.leadership.lead(false);
  run(rig);
  run(rig, { name: 'other' });
  for (const controller of ['test', 'other']) {
    assert.is(await count(rig, `controller_runtime_reconcile_errors_total{controller="${controller}"}`), 0);
    const success = `controller_runtime_reconcile_total{controller="${controller}",result="success"}`;
    assert.is(await count(rig, success), 0);
  }
});

test('a queue that is too small for all keys loses none', async (rig) => {
  for (let number = 0; number < 100; number++) rig.keys.add(`key-${number}`);
  const controller = run(rig, { queue: { workers: 2, maxKeys: 5 } });
  await waitFor('all of them', () => new Set(rig.done).size === 100);
  for (const key of rig.keys) controller.enqueue(key);
  await waitFor('all of them again', () => [...rig.keys].every((key) => times(rig, key) > 1));
});

test('reconciles all keys again at intervals', async (rig) => {
  rig.keys.add('a').add('b');
  run(rig, { resyncMs: 10 });
  await waitFor('some rounds', () => times(rig, 'a') > 3 && times(rig, 'b') > 3);
});

test.run();
