import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Payload } from '../../../../src/core/s3/received-payload.ts';
import { BodyBudget, RequestSlots } from '../../../../src/plugins/proxy/server/admit-request.ts';

const test = suite('room for bodies and requests');
const KiB = 1024;

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

test('a body takes its room before it is read, and gives it back once', async () => {
  const budget = new BodyBudget(100 * KiB);
  const first = budget.bounded(body(60 * KiB).payload);
  await first.payload.read(100 * KiB);
  const { payload, noted } = body(60 * KiB);
  const second = budget.bounded(payload);
  assert.throws(() => second.payload.read(100 * KiB), slowDown);
  assert.is(noted.reads, 0);
  first.release();
  first.release();
  await second.payload.read(100 * KiB);
  assert.throws(() => budget.bounded(body(60 * KiB).payload).payload.read(100 * KiB), slowDown);
});

test('one of unknown length takes what it may have at most', async () => {
  const budget = new BodyBudget(100 * KiB);
  await budget.bounded(body(undefined).payload).payload.read(80 * KiB);
  assert.throws(() => budget.bounded(body(30 * KiB).payload).payload.read(80 * KiB), slowDown);
});

test('small ones take no room', async () => {
  const budget = new BodyBudget(0);
  await budget.bounded(body(16 * KiB).payload).payload.read(100 * KiB);
  assert.throws(() => budget.bounded(body(16 * KiB + 1).payload).payload.read(100 * KiB), slowDown);
});

test('a request beyond the bound enters only where another can be ended', () => {
  let mayEnd = false;
  const slots = new RequestSlots(1, () => mayEnd);
  const leave = slots.enter();
  assert.throws(() => slots.enter(), slowDown);
  leave();
  leave();
  const again = slots.enter();
  assert.throws(() => slots.enter(), slowDown, 'leaving twice makes one place');
  mayEnd = true;
  const instead = slots.enter();
  again();
  instead();
  mayEnd = false;
  slots.enter();
  assert.throws(() => slots.enter(), slowDown);
});

test.run();
