import * as assert from 'uvu/assert';
import { startOperatorChannel } from '../../../../src/plugins/agent/operator/start-operator-channel.ts';
import { createLeanMetrics } from '../../../../src/runtime/health/plain-metrics.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { recordingLog } from '../access-events/recording-log.ts';
import { accessEventBy, calmState } from './agent-rig.ts';
import { suiteWithOperator } from './with-operator.ts';

const test = suiteWithOperator('channel to the operator');

test('says who it is and what the node is like when it starts', async ({ operator, start }) => {
  const { channel, lines, metric } = start();
  assert.is(await metric('svc_agent_operator_connected'), 0);
  await waitFor('the connection', () => channel.status.connected);
  const { sentUnixNano, bootId, instance, ...report } = structuredClone(operator.reports[0]);
  assert.match(bootId, /^[0-9a-f-]{36}$/);
  assert.ok(Math.abs(Number(BigInt(sentUnixNano) / 1_000_000n) - Date.now()) < 60_000);
  assert.match(instance, /^instance-/);
  assert.equal(report, {
    node: 'node-1',
    agentVersion: '1.2.3',
    sequence: '1',
    counts: [],
    droppedHits: '0',
    hits: [],
    state: {
      passedOver: [],
      pods: [],
      tier: 'TIER_LSM',
      enforcing: true,
      reason: '',
      enforceMode: true,
      processesLeftOut: 0,
    },
  });
  assert.equal(
    lines.map(({ event }) => event),
    ['operator.connected'],
  );
  assert.is(await metric('svc_agent_operator_connected'), 1);
  assert.is(await metric('svc_agent_operator_reports_total{result="ok"}'), 1);
});

test('tells a change of the state, and leaves the state out while it is the same', async ({
  operator,
  start,
}) => {
  const agent = start();
  await waitFor('the connection', () => agent.channel.status.connected);
  agent.state = { ...calmState(), tier: 4, enforcing: false, reason: 'nothing could be loaded' };
  agent.channel.changed();
  await waitFor('the change', () => operator.reports.length === 2);
  assert.is(operator.reports[1].state.tier, 'TIER_NONE');
  agent.channel.changed();
  await waitFor('a report without a state', () => operator.reports.length === 3);
  assert.is(operator.reports[2].state, null);
});

test('gathers changes that follow each other', async ({ operator, start }) => {
  const agent = start({ timings: { change: 100 } });
  await waitFor('the connection', () => agent.channel.status.connected);
  for (let i = 0; i < 50; i++) agent.channel.changed();
  await waitFor('the change', () => operator.reports.length === 2);
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.is(operator.reports.length, 2);
});

test('gives a sign of life when there is nothing to tell', async ({ operator, start }) => {
  start({ timings: { heartbeat: 30 } });
  await waitFor('four reports', () => operator.reports.length >= 4);
  assert.equal(
    operator.reports.slice(0, 4).map(({ sequence }) => sequence),
    ['1', '2', '3', '4'],
  );
  assert.is(operator.reports[3].state, null);
});

test('sends the state at once to an operator that asks for it', async ({ operator, start }) => {
  const agent = start();
  await waitFor('the connection', () => agent.channel.status.connected);
  operator.answer = { sendState: true };
  agent.channel.hit(accessEventBy(1));
  operator.onReport = () => {
    if (operator.reports.length === 3) operator.answer = {};
  };
  await waitFor('the state', () => operator.reports.length === 3);
  assert.is(operator.reports[1].state, null);
  assert.is(operator.reports[2].state.tier, 'TIER_LSM');
});

test('does not run wild where an operator asks for the state again and again', async ({
  operator,
  start,
}) => {
  operator.answer = { sendState: true };
  start();
  await waitFor('the first report', () => operator.reports.length > 0);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.is(operator.reports.length, 1);
});

test('tells hits with all that is known of them, equal ones as one', async ({ operator, start }) => {
  const { channel } = start({ timings: { batch: 50 } });
  const { target } = accessEventBy(11);
  for (const at of [10n, 20n, 30n]) channel.hit(accessEventBy(11, { at }));
  channel.hit(accessEventBy(12, { road: 'kernel_memory', outcome: 'seen', target: { ...target, pid: 0 } }));
  await waitFor('both', () => operator.hits.length === 2);
  assert.equal(structuredClone(operator.hits[0]), {
    number: '1',
    count: '3',
    firstUnixNano: '10',
    lastUnixNano: '30',
    road: 'ROAD_ENVIRON',
    outcome: 'OUTCOME_DENIED',
    syscall: 257,
    syscallName: 'openat',
    source: { pid: 11, uid: 1000, comm: 'cat', cgroup: '41', podUid: '' },
    target: {
      pid: 7,
      start: '1234',
      comm: 'app',
      cgroup: '42',
      podUid: 'b6a1c1de-0000-4000-8000-000000000001',
    },
  });
  assert.equal([operator.hits[1].road, operator.hits[1].target], ['ROAD_KERNEL_MEMORY', null]);
  const counts = structuredClone(operator.reports.at(-1).counts);
  assert.equal(counts, [
    { road: 'ROAD_ENVIRON', outcome: 'OUTCOME_DENIED', count: '3' },
    { road: 'ROAD_KERNEL_MEMORY', outcome: 'OUTCOME_SEEN', count: '1' },
  ]);
  await waitFor('an empty queue', () => channel.status.queued === 0);
});

test('keeps the interval that the operator asks for', async ({ operator, start }) => {
  operator.answer = { minIntervalMs: 200 };
  const { channel } = start();
  await waitFor('the connection', () => channel.status.connected);
  const before = performance.now();
  channel.hit(accessEventBy(1));
  await waitFor('the hit', () => operator.hits.length === 1);
  assert.ok(performance.now() - before >= 100);
});

test('lets hits go that the operator calls invalid, counts them, and goes on', async ({
  operator,
  start,
}) => {
  const { channel, metric } = start();
  await waitFor('the connection', () => channel.status.connected);
  operator.answer = { code: 'INVALID_ARGUMENT', details: 'too many pods' };
  for (let i = 0; i < 3; i++) channel.hit(accessEventBy(1));
  await waitFor('the refusal', () => channel.status.lastError === 'too many pods');
  operator.answer = {};
  channel.hit(accessEventBy(2));
  await waitFor('the next hit', () => operator.hits.length === 1);
  assert.is(operator.hits[0].source.pid, 2);
  assert.is(operator.reports.at(-1).droppedHits, '3');
  assert.is(await metric('svc_agent_operator_dropped_total'), 3);
});

test('sends again what the operator did not take, slower each time', async ({ operator, start }) => {
  const { channel, lines } = start();
  operator.answer = { acceptedHit: 0 };
  channel.hit(accessEventBy(1));
  await waitFor('the complaint', () => lines.some(({ result }) => result === 'no_progress'));
  assert.is(channel.status.queued, 1);
  operator.answer = {};
  await waitFor('an empty queue', () => channel.status.queued === 0);
  assert.is(operator.hits.length, 1);
});

test('tells the rest when it is closed', async ({ operator, start }) => {
  const { channel } = start({ timings: { batch: 1_000_000 } });
  await waitFor('the connection', () => channel.status.connected);
  for (let pid = 0; pid < 999; pid++) channel.hit(accessEventBy(pid));
  await channel.close();
  assert.is(operator.hits.length, 999);
});

test('closes when its signal is aborted, and at once where it was before', async ({ operator, start }) => {
  const ending = new AbortController();
  const { channel } = start({ signal: ending.signal, timings: { batch: 1_000_000 } });
  await waitFor('the connection', () => channel.status.connected);
  channel.hit(accessEventBy(1));
  ending.abort();
  await waitFor('the last report', () => operator.hits.length === 1);
  await start({ signal: ending.signal }).channel.close();
});

test('works alone without an address', async () => {
  const { log } = recordingLog();
  const metrics = createLeanMetrics();
  const state = () => assert.unreachable('nobody asks');
  const signal = new AbortController().signal;
  const about = { node: 'n', instance: 'i', version: '1' };
  const channel = startOperatorChannel({ ...about, log, metrics, signal, state: state as never });
  channel.hit(accessEventBy(1));
  channel.changed();
  assert.equal(channel.status, { connected: false, lastError: undefined, queued: 0 });
  assert.is((await metrics.expose()).body, '');
  await channel.close();
});

test.run();
