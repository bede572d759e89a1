import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startFaultProxy } from '../../../support/fault-proxy.ts';
import { startOperator, type TestOperator } from '../../../support/operator-channel.ts';
import type { FaultProxy } from '../../../support/types.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type AgentRig, accessEventBy, type RigOptions, startAgent } from './agent-rig.ts';

interface Context {
  operator: TestOperator;
  relay: FaultProxy;
  /** Reports through the relay. */
  start(options?: Partial<RigOptions>): AgentRig;
  agents: AgentRig[];
}

const test = suite<Context>('channel to an operator in trouble');

test.before.each(async (context) => {
  context.operator = await startOperator();
  context.relay = await startFaultProxy(context.operator.url);
  context.agents = [];
  context.start = (options) => {
    const address = { host: '127.0.0.1', port: context.relay.port };
    const agent = startAgent({ address, tls: context.operator.tls, ...options });
    context.agents.push(agent);
    return agent;
  };
});
test.after.each(async ({ operator, relay, agents }) => {
  await Promise.all(agents.map(({ channel }) => channel.close()));
  await relay.stop();
  await operator.stop();
});

const connected = ({ channel }: AgentRig) => waitFor('the connection', () => channel.status.connected);
const cutOff = ({ channel }: AgentRig) => waitFor('the failure', () => !channel.status.connected);
const drained = ({ channel }: AgentRig) => waitFor('an empty queue', () => channel.status.queued === 0);

/** Each source once with this count, in order. */
function assertOnce(operator: TestOperator, sources: number, count = 1): void {
  const seen = operator.hits.map((hit) => [hit.source.pid, Number(hit.count)]);
  assert.equal(
    seen,
    Array.from({ length: sources }, (_, pid) => [pid, count]),
  );
}

function hits(agent: AgentRig, from: number, to: number): void {
  for (let pid = from; pid < to; pid++) agent.channel.hit(accessEventBy(pid));
}

test('keeps the hits of the time before there was an operator', async ({ operator, start }) => {
  operator.down();
  const agent = start();
  hits(agent, 0, 2_500);
  await waitFor('the failure', () => agent.channel.status.lastError);
  assert.is(agent.channel.status.connected, false);
  assert.is(await agent.metric('svc_agent_operator_queue'), 2_500);
  await operator.up();
  await drained(agent);
  assertOnce(operator, 2_500);
  assert.ok(operator.reports.every((report) => report.hits.length <= 1_000));
});

test('keeps the hits while the operator is away, and tells each once', async ({ operator, start }) => {
  const agent = start();
  await connected(agent);
  hits(agent, 0, 100);
  await drained(agent);
  operator.down();
  hits(agent, 100, 200);
  await cutOff(agent);
  hits(agent, 200, 300);
  await operator.up();
  await drained(agent);
  assertOnce(operator, 300);
  assert.is(operator.reports.at(-1).counts[0].count, '300');
  await connected(agent);
  const events = agent.lines.filter(({ level }) => level !== 'debug').map(({ event }) => event);
  assert.is(events.filter((event) => event === 'operator.connected').length, 2);
});

test('tells again what was lost with its answer, and the operator knows it', async ({ operator, start }) => {
  const agent = start();
  await connected(agent);
  operator.onReport = (report) => {
    if (report.hits.length > 0) operator.down();
  };
  hits(agent, 0, 50);
  await cutOff(agent);
  operator.onReport = () => {};
  hits(agent, 0, 50);
  await operator.up();
  await drained(agent);
  const repeated = operator.reports.filter(({ hits: [first] }) => first?.number === '1');
  assert.ok(repeated.length > 1, 'nothing was sent twice');
  assert.is(operator.hits.length, 100);
  assert.is(operator.hitCount(), 100);
});

test('gives up a call that is not answered, and goes on when it is', async ({ operator, start }) => {
  const agent = start({ timings: { timeout: 100 } });
  await connected(agent);
  operator.answer = 'hang';
  hits(agent, 0, 10);
  await cutOff(agent);
  await waitFor('the reason', () => agent.lines.some(({ result }) => result === 'deadline_exceeded'));
  operator.answer = {};
  await drained(agent);
  assertOnce(operator, 10);
});

test('gives up a connection over which nothing comes', async ({ operator, relay, start }) => {
  const agent = start({ timings: { timeout: 100 } });
  await connected(agent);
  relay.hang();
  hits(agent, 0, 10);
  await cutOff(agent);
  await relay.heal();
  await drained(agent);
  assertOnce(operator, 10);
});

test('survives resets at any byte of an answer', async ({ operator, relay, start }) => {
  const agent = start();
  await connected(agent);
  let told = 0;
  for (const bytes of [0, 1, 20, 60, 200, 1_000, 2_500]) {
    relay.cutAfter(bytes, 'to-client', 'reset', { count: 1 });
    hits(agent, told, told + 5);
    told += 5;
    await drained(agent);
  }
  assertOnce(operator, told);
});

test('survives connections that end in the middle of a report', async ({ operator, relay, start }) => {
  const agent = start();
  await connected(agent);
  for (const manner of ['fin', 'reset'] as const) {
    relay.cutAfter(5_000, 'to-server', manner, { count: 1 });
    hits(agent, 0, 1_500);
    await drained(agent);
  }
  assert.is(operator.hitCount(), 3_000);
});

test('waits where nobody listens', async ({ operator, relay, start }) => {
  await relay.refuse();
  const agent = start();
  hits(agent, 0, 10);
  await waitFor('the failure', () => agent.channel.status.lastError);
  await relay.heal();
  await drained(agent);
  assertOnce(operator, 10);
});

test('says once what is wrong while it stays the same', async ({ operator, start }) => {
  operator.answer = { code: 'UNAVAILABLE', details: 'not the leader' };
  const agent = start();
  await waitFor('some attempts', () => agent.lines.length >= 5);
  const warnings = agent.lines.filter(({ level }) => level === 'warn');
  assert.equal(
    warnings.map(({ event, error, result }) => ({ event, error, result })),
    [{ event: 'operator.unreachable', error: 'not the leader', result: 'unavailable' }],
  );
});

test('holds a bounded number of hits, drops the oldest and says how many', async ({ operator, start }) => {
  operator.down();
  const agent = start();
  await waitFor('the failure', () => agent.channel.status.lastError);
  hits(agent, 0, 14_000);
  assert.is(agent.channel.status.queued, 10_000);
  await operator.up();
  await drained(agent);
  const { droppedHits, counts } = operator.reports.at(-1);
  assert.is(Number(droppedHits), 4_000);
  assert.is(operator.hitCount() + Number(droppedHits), Number(counts[0].count));
  assert.is(operator.hits.at(-1).source.pid, 13_999);
  assert.is(await agent.metric('svc_agent_operator_dropped_total'), 4_000);
});

test('closes within its bound while the operator hangs', async ({ operator, start }) => {
  const agent = start({ timings: { farewell: 50, timeout: 1_000_000 } });
  await connected(agent);
  operator.answer = 'hang';
  hits(agent, 0, 10);
  await waitFor('the report', () => operator.hits.length === 10);
  await agent.channel.close();
  assert.is(agent.channel.status.connected, false);
});

test.run();
