import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { repetitions } from '../../../support/repetitions.ts';
import type { SvcAgent } from '../../../support/svc-agent.ts';
import type { Stoppable } from '../../../support/types.ts';
import { expectUnread } from './support/expect-order.ts';
import { type KeyServer, startKeyServer } from './support/key-server.ts';
import { type Machine, startEnforcing } from './support/machine.ts';
import { runOrder } from './support/order.ts';
import { thisMachine } from './support/this-machine.ts';

/** Agent, wrapper and OpenBao as they are, on the tier of this machine: readers are killed. */
const test = suite('from registration to application, readers being killed');
let machine: Machine & Stoppable;
let keys: KeyServer;
let agent: SvcAgent | undefined;

test.before(async () => {
  machine = await thisMachine();
  keys = await startKeyServer();
});
test.after.each(async () => {
  await agent?.stop();
  agent = undefined;
});
test.after(async () => {
  await keys?.stop();
  await machine?.stop();
});

const starts = repetitions(3, 6);
const rotated = { starts: repetitions(1, 2), rotations: repetitions(2, 3) };
const ways = ['environ', 'held-environ', 'held-mem', 'mem'];

test('everything is readable without an agent', async () => {
  const record = await runOrder({ name: 'without', machine, keys, starts: 2, rotations: 1 });
  assert.equal(Object.keys(record.leaked).sort(), ways);
});

test(`nothing is readable from the registration on: ${starts} starts`, async () => {
  agent = await startEnforcing(machine);
  const record = await runOrder({ name: 'starts', machine, keys, agent, starts, rotations: 0 });
  expectUnread(record);
  assert.is(record.starts, starts);
});

test('nor through restarts with new secrets', async () => {
  agent = await startEnforcing(machine);
  const record = await runOrder({ name: 'rotations', machine, keys, agent, ...rotated });
  expectUnread(record);
  assert.ok(record.applications >= rotated.starts * (1 + rotated.rotations));
});

test.run();
