import { openSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { partsOf } from '../../../src/runtime/native/proc-text.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';

const test = suite<{ folder: TemporaryFolder; path: string }>('texts of /proc');
const maxBytes = 16_777_216;
const mebibyte = 1_048_576;

test.before.each((context) => {
  context.folder = temporaryFolder('proc-text');
  context.path = join(context.folder.path, 'text');
});

test.after.each(({ folder }) => folder.remove());

function countOf(path: string, limits: { readonly maxBytes: number }): number {
  let count = 0;
  for (const _ of partsOf(path, limits)) count += 1;
  return count;
}

test('come line by line, wherever a piece of the file ends', ({ path }) => {
  const lines = Array.from({ length: 4_000 }, (_, index) => `${index} ${'ü'.repeat(index % 90)}`);
  for (const end of ['', '\n']) {
    writeFileSync(path, `\n${lines.join('\n')}${end}`);
    assert.equal([...partsOf(path, { maxBytes })], lines);
  }
  writeFileSync(path, '');
  assert.is(countOf(path, { maxBytes }), 0);
});

test('come word by word', ({ path }) => {
  writeFileSync(path, '1 22 333 ');
  assert.equal([...partsOf(path, { separator: ' ', maxBytes })], ['1', '22', '333']);
});

test('are not read on when nothing more is wanted', ({ path }) => {
  writeFileSync(path, `first\nsecond\n${'x'.repeat(200_000)}`);
  const seen: string[] = [];
  for (const line of partsOf(path, { maxBytes: 65_536 })) if (seen.push(line) === 2) break;
  assert.equal(seen, ['first', 'second']);
});

test('are refused when they or a part are too long, and take no memory before', ({ path }) => {
  writeFileSync(path, '');
  truncateSync(path, 1024 * mebibyte);
  const before = process.memoryUsage();
  assert.throws(() => countOf(path, { maxBytes }), /part of more than 131072 bytes/);
  writeFileSync(path, `${'ab\n'.repeat(mebibyte)}${'x'.repeat(maxBytes)}`);
  const seen: string[] = [];
  const readAll = () => {
    for (const part of partsOf(path, { maxBytes: mebibyte })) seen.push(part);
  };
  assert.throws(readAll, /longer than 1048576 bytes/);
  assert.ok(seen.length > 300_000 && seen.length < 400_000, String(seen.length));
  const after = process.memoryUsage();
  assert.ok(after.arrayBuffers - before.arrayBuffers < 4 * mebibyte);
});

test('leave no descriptor behind, however they end', ({ path }) => {
  writeFileSync(path, 'a\nb\n');
  const free = openSync(path, 'r');
  for (let time = 0; time < 3; time += 1) {
    for (const _ of partsOf(path, { maxBytes })) break;
    assert.throws(() => countOf(path, { maxBytes: 1 }), /longer than 1 bytes/);
  }
  assert.is(openSync(path, 'r'), free + 1);
});

test.run();
