import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type BpfObject, openObject } from '../../../../src/plugins/agent/bpf/object.ts';
import { openRingBuffer, type RingBuffer } from '../../../../src/plugins/agent/bpf/ring-buffer.ts';
import { cleanEnv } from '../../../support/clean-env.ts';
import { context } from './arguments.ts';
import { compileFixture } from './compile.ts';
import { privateFileSystem } from './private-file-system.ts';
import { fixturePath } from './run-fixture.ts';

const file = compileFixture('counters');
const recordSpace = 24;
const ringBytes = 64 * 1024;
const opened: { close(): void }[] = [];

function load(pinFolder?: string): BpfObject {
  const object = openObject(readFileSync(file), { name: 'test', ...(pinFolder && { pinFolder }) });
  opened.push(object);
  object.load();
  return object;
}

function open(object: BpfObject): RingBuffer {
  const ring = openRingBuffer(object.map('ring'));
  opened.push(ring);
  return ring;
}

/** The number in a record, which has to be whole. */
function numberOf(record: Uint8Array): number {
  const bytes = Buffer.from(record.buffer, record.byteOffset, record.length);
  assert.is(bytes.length, 16);
  const number = bytes.readBigUInt64LE();
  assert.is(bytes.readBigUInt64LE(8), number * number);
  return Number(number);
}

/** The numbers of records that are not discarded. */
const expected = (from: number, to: number): number[] =>
  Array.from({ length: to - from }, (_, index) => from + index).filter((number) => number % 8 !== 7);

function drain(ring: RingBuffer, most = 100_000): number[] {
  const numbers: number[] = [];
  ring.drain(most, (record) => numbers.push(numberOf(record)));
  return numbers;
}

const rings = suite('the ring buffer of the kernel');

rings.after.each(() => {
  for (const each of opened.splice(0).reverse()) each.close();
});

rings('hands over what programs wrote, in its order', () => {
  const object = load();
  const ring = open(object);
  assert.equal(drain(ring), []);
  object.program('produce').run(context(0, 100));
  assert.equal(drain(ring, 10), expected(0, 11));
  assert.equal(drain(ring), expected(11, 100));
});

rings('loses nothing where it is drained in time, over and over its end', () => {
  const object = load();
  const [ring, program] = [open(object), object.program('produce')];
  for (let from = 0; from < 100_000; from += 1000) {
    assert.is(program.run(context(from, 1000)), 0);
    assert.equal(drain(ring), expected(from, from + 1000));
  }
});

rings('loses what finds no room, and goes on after it', () => {
  const object = load();
  const [ring, program] = [open(object), object.program('produce')];
  const room = Math.floor((ringBytes - 1) / recordSpace);
  for (let from = 0; from < 2000; from += 1000) assert.is(program.run(context(from, 1000)), 0);
  assert.is(program.run(context(2000, 1000)), 3000 - room);
  assert.is(program.run(context(0, 1)), 1);
  assert.equal(drain(ring), expected(0, room));
  assert.is(program.run(context(5000, 10)), 0);
  assert.equal(drain(ring), expected(5000, 5010));
});

rings('can be closed and opened again, and nothing is lost', () => {
  const object = load();
  object.program('produce').run(context(0, 50));
  const first = open(object);
  assert.equal(drain(first, 5), expected(0, 5));
  first.close();
  first.close();
  assert.throws(() => drain(first), TypeError);
  assert.equal(drain(open(object)), expected(5, 50));
});

rings('outlives the object that made it', () => {
  const object = load();
  const ring = open(object);
  object.program('produce').run(context(0, 5));
  object.close();
  assert.equal(drain(ring), expected(0, 5));
});

rings('is refused over a map of another type', () => {
  assert.throws(() => openRingBuffer(load().map('table')), /Map table is no ring buffer/);
});

rings('loses, repeats and tears nothing while another process writes 100,000 records', async () => {
  const total = 100_000;
  const fileSystem = privateFileSystem();
  opened.push({ close: fileSystem.remove });
  const folder = join(fileSystem.path, 'svc');
  const ring = open(load(folder));
  const child = spawn(process.execPath, [fixturePath('produce'), file, folder, String(total)], {
    env: cleanEnv({}),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const wanted = expected(0, total);
  const got: number[] = [];
  while (got.length < wanted.length && child.exitCode === null) {
    ring.drain(1000, (record) => got.push(numberOf(record)));
    await setImmediate();
  }
  assert.equal(await ended, [0, null]);
  got.push(...drain(ring));
  assert.is(got.length, wanted.length);
  assert.ok(got.every((number, index) => number === wanted[index]));
});

rings.run();
