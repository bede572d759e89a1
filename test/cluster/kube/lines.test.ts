import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readLines } from '../../../src/cluster/kube/watch.ts';
import { collectGarbage } from '../../support/collect-garbage.ts';
import { chunksOf } from './support/chunks.ts';

const test = suite('lines of a watch');

async function* chunks(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  yield* chunksOf(bytes, cuts);
}

async function collect(source: AsyncIterable<Buffer>, maxBytes = 1_000): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of readLines(source, maxBytes)) lines.push(String(line));
  return lines;
}

test('are the same wherever the bytes were cut, within a character too', async () => {
  const line = fc.string({ unit: 'grapheme' }).map((text) => `x${text.replaceAll('\n', '')}`);
  await fc.assert(
    fc.asyncProperty(fc.array(line), fc.array(fc.nat(200)), async (lines, cuts) => {
      const bytes = Buffer.from(lines.map((each) => `${each}\n`).join(''));
      assert.equal(await collect(chunks(bytes, cuts)), lines);
    }),
  );
});

test('end with a line end: the start of one that was cut off is not given out', async () => {
  assert.equal(await collect(chunks(Buffer.from('{"a":1}\n\n{"b"'), [])), ['{"a":1}']);
});

test('have a bound, with and without an end', async () => {
  const fits = Buffer.from(`${'x'.repeat(10)}\n`);
  assert.equal(await collect(chunks(fits, [4]), 10), ['x'.repeat(10)]);
  for (const text of [`${'x'.repeat(11)}\n`, 'x'.repeat(11)]) {
    const failure = await collect(chunks(Buffer.from(text), [4]), 10).catch((error) => error);
    assert.is(failure.code, 'KUBE_PROTOCOL');
  }
});

test('that come in single bytes take no object for each', async () => {
  let held = 0;
  async function* single() {
    collectGarbage();
    const before = heldBytes();
    for (let byte = 0; byte < 500_000; byte++) yield Buffer.from('x');
    collectGarbage();
    held = heldBytes() - before;
    yield Buffer.from('\n');
  }
  const [line] = await collect(single(), 1_000_000);
  assert.is(line?.length, 500_000);
  assert.ok(held < 10_000_000, `${held} bytes`);
});

function heldBytes(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test.run();
