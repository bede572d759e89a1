import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MemoryBudget, RequestMemory } from '../../../../src/objects/held-memory.ts';
import type { Payload } from '../../../../src/objects/s3/received-payload.ts';
import { RequestSlots, withMemory } from '../../../../src/plugins/proxy/server/admit-request.ts';

const test = suite('room for bodies and requests');
const KiB = 1024;
const never = new AbortController().signal;

/** A body whose reading is noted. */
function body(length: number | undefined) {
  const noted = { reads: 0 };
  const payload: Payload = {
    length,
    async *chunks() {},
    announcesChecksum: false,
    announced: new Map(),
    checksums: () => new Map(),
    async read() {
      noted.reads++;
      return Buffer.alloc(0);
    },
  };
  return { payload, noted };
}

const slowDown = (error: unknown) => (error as { code?: string }).code === 'SlowDown';

/** Of what remains; a first one that holds something else proceeds in any case. */
function remaining(bytes: number): MemoryBudget {
  const memory = new MemoryBudget(bytes);
  void memory.hold('bodies').take(1);
  return memory;
}

test('a body takes its memory before it is read, and gives it back with its request', async () => {
  const memory = remaining(101 * KiB);
  const first = new RequestMemory(memory, never);
  await withMemory(body(40 * KiB).payload, first).read(100 * KiB);
  assert.ok(memory.used > 80 * KiB);
  const { payload, noted } = body(20 * KiB);
  const second = withMemory(payload, new RequestMemory(memory, never)).read(100 * KiB);
  await sleep(20);
  assert.is(noted.reads, 0);
  first.release();
  first.release();
  await second;
  assert.is(memory.used, 40 * KiB + 1);
});

test('one of unknown length takes what it may have at most', async () => {
  const memory = remaining(401 * KiB);
  await withMemory(body(undefined).payload, new RequestMemory(memory, never)).read(80 * KiB);
  assert.is(memory.used, 160 * KiB + 1);
});

test('small ones take none', async () => {
  const memory = remaining(1);
  await withMemory(body(16 * KiB).payload, new RequestMemory(memory, never)).read(100 * KiB);
  assert.is(memory.used, 1);
});

const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => assert.unreachable('it was let in'),
    (error) => error,
  );
const isSlowDown = async (promise: Promise<unknown>) => assert.ok(slowDown(await rejection(promise)));

test('a request beyond the bound enters when another one has left', async () => {
  const slots = new RequestSlots({ served: 1, waiting: 1, memory: remaining(1), makeRoom: () => undefined });
  const leave = await slots.enter(never);
  const next = slots.enter(never);
  assert.is(await Promise.race([next, sleep(50, 'waits')]), 'waits');
  await isSlowDown(slots.enter(never));
  leave();
  leave();
  const leaveNext = await next;
  const last = slots.enter(never);
  assert.is(await Promise.race([last, sleep(50, 'waits')]), 'waits', 'leaving twice makes one place');
  leaveNext();
  await last;
});

test('what those that wait hold of their bodies is bounded, and given back', async () => {
  const slots = new RequestSlots({
    served: 1,
    waiting: 9,
    memory: remaining(101),
    makeRoom: () => undefined,
  });
  const leave = await slots.enter(never, 1_000);
  const first = slots.enter(never, 60);
  await isSlowDown(slots.enter(never, 50));
  const none = slots.enter(never, 0);
  const caller = new AbortController();
  const second = slots.enter(caller.signal, 40);
  caller.abort(new Error('gone'));
  assert.is((await rejection(second)).message, 'gone');
  const third = slots.enter(never, 40);
  leave();
  (await first)();
  (await none)();
  (await third)();
});

test('one that waits has another one ended, and gives up after some time', async () => {
  let left = (): void => undefined;
  let asked = 0;
  const slots = new RequestSlots({
    served: 1,
    waiting: 2,
    memory: remaining(1),
    makeRoom: () => void (asked++ === 0 && left()),
  });
  left = await slots.enter(never);
  const next = slots.enter(never);
  await Promise.resolve();
  assert.is(asked, 0, 'not for a place that comes free by itself');
  await next;
  assert.is(asked, 1);
  await isSlowDown(slots.enter(never));
  assert.ok(asked > 2, `${asked}`);
});

test('one whose caller goes leaves its turn to the next', async () => {
  const slots = new RequestSlots({ served: 1, waiting: 2, memory: remaining(1), makeRoom: () => undefined });
  const leave = await slots.enter(never);
  const caller = new AbortController();
  const gone = slots.enter(caller.signal);
  const next = slots.enter(never);
  caller.abort(new Error('gone'));
  assert.is((await rejection(gone)).message, 'gone');
  leave();
  await next;
});

test.run();
