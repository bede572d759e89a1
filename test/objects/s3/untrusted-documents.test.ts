import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { repetitions } from '../../support/repetitions.ts';
import { fuzz } from '../../support/untrusted-inputs/fuzz.ts';
import { measure } from '../../support/untrusted-inputs/measure.ts';
import { inputs } from '../../support/untrusted-inputs/xml-documents.ts';

export const slow = true;

const test = suite('documents of strangers take no more than they should');

const seconds = Number(process.env['SVC_FUZZ_SECONDS'] ?? repetitions(3, 120));

for (const input of inputs)
  test(`${input.name}, from a ${input.from}: at most 8 bytes of heap for each byte, and no time without measure`, () => {
    const [cost] = fuzz([input], { milliseconds: (seconds * 1000) / inputs.length });
    if (process.env['SVC_FUZZ_VERBOSE']) console.log(cost);
  });

/** Of four, as in a fuzz run: a full collection within one may release older buffers after it was counted. */
const allocatedBy = (act: () => unknown): number =>
  Math.max(...[1, 2, 3, 4].map(() => measure(act).allocated));

test('a measurement sees what is kept, what is garbage and what stands outside of the heap', () => {
  const kept: unknown[] = [];
  const fill = () => {
    for (let index = 0; index < 200_000; index++) kept.push([index]);
  };
  const waste = () => {
    for (let index = 0; index < 200_000; index++) kept[0] = [index];
  };
  assert.ok(allocatedBy(fill) > 200_000 * 40);
  assert.ok(allocatedBy(waste) > 200_000 * 40);
  assert.ok(allocatedBy(() => kept.push(Buffer.alloc(5_000_000))) >= 5_000_000);
  assert.ok(measure(() => undefined).allocated < 100_000);
});

/** Takes CPU time of the thread. */
function busyFor(cpuMs: number): void {
  const { user, system } = process.threadCpuUsage();
  const until = user + system + cpuMs * 1_000;
  for (let now = 0; now < until; ) {
    const used = process.threadCpuUsage();
    now = used.user + used.system;
  }
}

test('a parser that takes too much, or fails, is found', () => {
  const [complete] = inputs as [(typeof inputs)[number]];
  const greedy = { ...complete, parse: (bytes: Buffer) => Array.from(bytes, (byte) => ({ byte })) };
  assert.throws(() => fuzz([greedy], { milliseconds: 100 }), /bytes of heap/);
  const slow = { ...complete, parse: () => busyFor(30) };
  assert.throws(() => fuzz([slow], { milliseconds: 100, cpuMs: 20 }), /ms of CPU/);
  const failing = { ...complete, parse: () => Buffer.alloc(-1) };
  assert.throws(() => fuzz([failing], { milliseconds: 100 }));
});

test.run();
