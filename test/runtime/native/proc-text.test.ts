import { openSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { eachPart } from '../../../src/runtime/native/proc-text.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';

const test = suite<{ folder: TemporaryFolder; path: string }>('texts of /proc');
const maxBytes = 16_777_216;
const mebibyte = 1_048_576;

test.before.each((context) => {
  context.folder = temporaryFolder('proc-text');
  context.path = join(context.folder.path, 'text');
});

test.after.each(({ folder }) => folder.remove());

function partsOf(path: string, limits: Parameters<typeof eachPart>[1] = { maxBytes }): string[] {
  const parts: string[] = [];
  eachPart(path, limits, (part) => void parts.push(part));
  return parts;
}

test('come line by line, wherever a piece of the file ends', ({ path }) => {
  const lines = Array.from({ length: 4_000 }, (_, index) => `${index} ${'ü'.repeat(index % 90)}`);
  for (const end of ['', '\n']) {
    writeFileSync(path, `\n${lines.join('\n')}${end}`);
    assert.equal(partsOf(path), lines);
  }
  writeFileSync(path, '');
  assert.equal(partsOf(path), []);
});

test('come word by word', ({ path }) => {
  writeFileSync(path, '1 22 333 ');
  assert.equal(partsOf(path, { separator: ' ', maxBytes }), ['1', '22', '333']);
});

test('are not read on when nothing more is wanted', ({ path }) => {
  writeFileSync(path, `first\nsecond\n${'x'.repeat(200_000)}`);
  const seen: string[] = [];
  eachPart(path, { maxBytes: 65_536 }, (line) => {
    seen.push(line);
    return line !== 'second';
  });
  assert.equal(seen, ['first', 'second']);
});

test('are refused when they or a part are too long, and take no memory before', ({ path }) => {
  writeFileSync(path, '');
  truncateSync(path, 1024 * mebibyte);
  const before = process.memoryUsage();
  assert.throws(() => partsOf(path), /RangeError|part of more than 131072 bytes/);
  writeFileSync(path, `${'ab\n'.repeat(mebibyte)}${'x'.repeat(maxBytes)}`);
  let count = 0;
  assert.throws(
    () => eachPart(path, { maxBytes: mebibyte }, () => void (count += 1)),
    /longer than 1048576 bytes/,
  );
  assert.ok(count > 300_000 && count < 400_000, String(count));
  const after = process.memoryUsage();
  assert.ok(after.arrayBuffers - before.arrayBuffers < 4 * mebibyte);
});

test('leave no descriptor behind, however they end', ({ path }) => {
  writeFileSync(path, 'a\nb\n');
  const free = openSync(path, 'r');
  for (let time = 0; time < 3; time += 1) {
    eachPart(path, { maxBytes }, () => false);
    assert.throws(() => eachPart(path, { maxBytes: 1 }, () => {}), RangeError);
  }
  assert.is(openSync(path, 'r'), free + 1);
});

test.run();
