import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCollector } from '../../../../src/runtime/memory.ts';
import { startOperator, type TestOperator } from '../../../support/operator-channel.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type AgentRig, accessEventBy, startAgent } from './agent-rig.ts';

interface Context {
  operator: TestOperator;
  agent: AgentRig;
}

export const idle = true;
export const slow = true;

const test = suite<Context>('10,000 hits a second');

const rounds = 300;
const perRound = 100;
const total = rounds * perRound;

test.before.each(async (context) => {
  context.operator = await startOperator();
  context.agent = startAgent({ ...context.operator, timings: { batch: 500, backoffMax: 200 } });
});
test.after.each(async ({ operator, agent }) => {
  await agent.channel.close();
  await operator.stop();
});

/** Three seconds at this rate. @param source of the nth hit */
async function flood({ channel }: AgentRig, source: (n: number) => number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < perRound; i++) channel.hit(accessEventBy(source(round * perRound + i)));
    await sleep(10);
  }
}

const drained = ({ channel }: AgentRig) => waitFor('an empty queue', () => channel.status.queued === 0);

test('of few sources make few reports, exactly counted', async ({ operator, agent }) => {
  await flood(agent, (n) => n % 5);
  await drained(agent);
  assert.is(operator.hitCount(), total);
  assert.is(operator.reports.at(-1).counts[0].count, String(total));
  assert.is(operator.reports.at(-1).droppedHits, '0');
  assert.ok(operator.hits.length < 200, `${operator.hits.length} hits were told`);
});

test('that all differ arrive one by one or are counted as dropped', async ({ operator, agent }) => {
  await waitFor('the connection', () => agent.channel.status.connected);
  await flood(agent, (n) => n);
  await drained(agent);
  const { droppedHits } = operator.reports.at(-1);
  assert.is(operator.hitCount() + Number(droppedHits), total);
});

test('with an operator that comes and goes are exact all the same', async ({ operator, agent }) => {
  const flooding = flood(agent, (n) => n % 3_000);
  for (let i = 0; i < 5; i++) {
    await sleep(250);
    operator.down();
    await sleep(250);
    await operator.up();
  }
  await flooding;
  await drained(agent);
  assert.is(operator.hitCount() + Number(operator.reports.at(-1).droppedHits), total);
  assert.is(operator.reports.at(-1).droppedHits, '0');
});

test('with the operator away hold no more memory than the queue has room for', async ({
  operator,
  agent,
}) => {
  operator.down();
  const collect = createCollector(0);
  const used = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  await flood(agent, (n) => n);
  const full = used();
  await flood(agent, (n) => total + n);
  const later = used();
  assert.is(agent.channel.status.queued, 10_000);
  assert.ok(later < full + 2_000_000, `${full} bytes before, ${later} after`);
  await operator.up();
  await drained(agent);
  const { droppedHits, counts } = operator.reports.at(-1);
  assert.is(Number(counts[0].count), 2 * total);
  assert.is(operator.hitCount() + Number(droppedHits), 2 * total);
});

test.run();
