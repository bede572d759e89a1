import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createElector } from '../../../src/cluster/kube/elector.ts';
import { startVirtualTime, type VirtualTime } from '../../support/virtual-time.ts';
import { waitFor } from '../../support/wait-for.ts';
import { createFakeLeases, type FakeLeases, type FakeLink } from './support/fake-leases.ts';
import {
  leaderOf,
  type Replica,
  type ReplicaOptions,
  startReplica,
  times,
  watchLeaders,
} from './support/replicas.ts';

interface Context {
  time: VirtualTime;
  leases: FakeLeases;
  replicas: Replica[];
  start(name: string, options?: Partial<ReplicaOptions>): { replica: Replica; link: FakeLink };
}

const test = suite<Context>('leader election');

test.before.each((context) => {
  context.time = startVirtualTime();
  context.leases = createFakeLeases();
  context.replicas = [];
  context.start = (name, options = {}) => {
    const link = context.leases.client();
    const clocks = { monotonic: context.time.now, wall: context.time.now };
    const replica = startReplica({ client: link, name, clocks, ...options });
    context.replicas.push(replica);
    return { replica, link };
  };
});

test.after.each(async ({ replicas, time }) => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  time.stop();
});

const leads = ({ elector }: Replica) => waitFor('a leader', () => elector.leading);

test('takes a lease that is not there, renews it and is told once', async ({ leases, start }) => {
  const { replica } = start('one');
  await leads(replica);
  const { spec } = leases.lease;
  assert.match(spec.holderIdentity, /^one_[0-9a-f]{8}$/);
  assert.is(spec.leaseDurationSeconds, 1);
  assert.match(spec.renewTime, /\.\d{6}Z$/);
  await waitFor('renewals', () => leases.writes > 20);
  assert.equal(replica.told, [true]);
  assert.is(leases.lease.spec.leaseTransitions, 0);
  assert.is(leases.lease.spec.acquireTime, spec.acquireTime);
});

test('tells who asks while it leads at once, and nothing once that is ended', async ({ start }) => {
  const { replica } = start('one');
  await leads(replica);
  const told: boolean[] = [];
  replica.elector.onChange((leading) => told.push(leading))();
  replica.elector.onChange(() => {
    throw new Error('a handler');
  });
  await replica.stop();
  assert.equal(told, [true]);
  assert.equal(replica.told, [true, false]);
});

test('gives the lease up at its end, so that another begins', async ({ leases, start }) => {
  const one = start('one');
  await leads(one.replica);
  const { replica: two } = start('two', { leaseMs: 60_000, renewMs: 40_000 });
  await one.replica.stop();
  assert.is(one.replica.elector.leading, false);
  await leads(two);
  assert.is(leases.lease.spec.leaseTransitions, 1);
});

test('does not wait for an API server that is away when it ends', async ({ start }) => {
  const { replica, link } = start('one');
  await leads(replica);
  link.state = 'lost';
  await replica.stop();
  assert.ok(replica.log.some((line) => line.startsWith('leader.release.failed')));
});

test('stops leading before anybody else may begin when its renewals are lost', async ({ leases, start }) => {
  const one = start('one');
  await leads(one.replica);
  const { replica: two } = start('two');
  const watch = watchLeaders(() => [one.replica, two]);
  one.link.state = 'lost';
  await waitFor('the end of its term', () => one.replica.told.at(-1) === false);
  assert.is(two.elector.leading, false);
  assert.match(leases.lease.spec.holderIdentity, /^one_/);
  await leads(two);
  assert.is(watch.stop(), 1);
});

test('does not lead by renewals whose answers are lost, and goes on when they come again', async ({
  leases,
  start,
}) => {
  const { replica, link } = start('one');
  await leads(replica);
  link.state = 'deaf';
  await waitFor('the end of its term', () => replica.told.at(-1) === false);
  link.state = 'up';
  await leads(replica);
  assert.is(leases.lease.spec.leaseTransitions, 0);
});

test('leads no more after it stood still, though nothing has told it yet', async ({
  leases,
  start,
  time,
}) => {
  let wall = 0;
  const clocks = { monotonic: time.now, wall: () => time.now() + wall };
  const { replica, link } = start('one', { clocks });
  await leads(replica);
  link.state = 'lost';
  wall = times.renewMs + 1;
  assert.is(replica.elector.leading, false);
  assert.ok(leases.lease);
});

test('takes no lease whose holder renews it, however wrong its times are', async ({ leases, start }) => {
  const object = (renewTime: string) => ({
    metadata: { name: 'svc-operator', namespace: 'svc-system' },
    spec: { holderIdentity: 'other', leaseDurationSeconds: 1, renewTime },
  });
  leases.lease = object('1999-01-01T00:00:00.000000Z');
  const { replica } = start('one');
  for (let round = 1; round <= 12; round++) {
    await sleep(200);
    leases.lease = object(`1999-01-01T00:00:${String(round).padStart(2, '0')}.000000Z`);
    assert.is(replica.elector.leading, false);
  }
  await leads(replica);
});

test('takes a lease from the future that nobody renews', async ({ leases, start }) => {
  leases.lease = {
    metadata: { name: 'svc-operator', namespace: 'svc-system' },
    spec: { holderIdentity: 'other', leaseDurationSeconds: 1, renewTime: '2999-01-01T00:00:00.000000Z' },
  };
  const { replica } = start('one');
  await leads(replica);
  assert.is(leases.lease.spec.leaseTransitions, 1);
});

test('takes a lease without a spec', async ({ leases, start }) => {
  leases.lease = { metadata: { name: 'svc-operator', namespace: 'svc-system' } };
  await leads(start('one').replica);
});

test('keeps off a lease that was deleted under its holder', async ({ leases, start }) => {
  const one = start('one');
  await leads(one.replica);
  const { replica: two } = start('two');
  await waitFor('the other to have seen it', () => two.log.some((line) => line.startsWith('leader.other')));
  const watch = watchLeaders(() => [one.replica, two]);
  one.link.state = 'lost';
  leases.lease = undefined;
  await leads(two);
  assert.is(watch.stop(), 1);
});

test('stops when somebody else has written the lease', async ({ leases, start }) => {
  const { replica } = start('one');
  await leads(replica);
  const taken = structuredClone(leases.lease);
  taken.spec.holderIdentity = 'other';
  leases.lease = taken;
  await waitFor('the end', () => replica.told.at(-1) === false);
});

test('refuses times by which two could lead', () => {
  const common = { client: createFakeLeases().client(), namespace: 'a', name: 'b', identity: 'c' };
  const log = { debug() {}, info() {}, warn() {}, error() {}, child: () => log };
  for (const wrong of [{ renewMs: 15_000 }, { retryMs: 10_000 }, { retryMs: 0 }, { leaseMs: Number.NaN }]) {
    const options = { ...common, ...wrong, log, signal: AbortSignal.abort() };
    assert.throws(() => createElector(options), RangeError);
  }
});

test('never lets two lead at once, whatever happens to three', async ({ replicas, start }) => {
  const links = ['one', 'two', 'three'].map((name) => start(name).link);
  const watch = watchLeaders(() => replicas);
  let leaders = 0;
  for (let round = 0; round < 40; round++) {
    for (const link of links) {
      const luck = Math.random();
      link.state = luck < 0.25 ? 'lost' : luck < 0.4 ? 'deaf' : 'up';
      const slow = Math.random() < 0.3 ? 250 : 10;
      link.delay = () => Math.random() * slow;
    }
    if (round % 8 === 7) await leaderOf(replicas)?.stop();
    if (round % 8 === 7) links.push(start(`later-${round}`).link);
    await sleep(300);
    if (leaderOf(replicas) !== undefined) leaders += 1;
  }
  for (const link of links) link.state = 'up';
  await waitFor('a leader in the end', () => leaderOf(replicas));
  assert.is(watch.stop(), 1);
  assert.ok(leaders > 5);
});

test.run();
