import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  currentGeneration,
  indexRecords,
  isOutdated,
  regionSize,
  slotOffset,
  slotSize,
} from '../../../../src/runtime/protocols/secret-records/region-layout.ts';
import {
  encodedLength,
  fitsNextGeneration,
  type SecretEntry,
  writeFirstGeneration,
  writeGeneration,
} from '../../../../src/runtime/protocols/secret-records/region-writer.ts';

const test = suite('secret-records write-generation');
const page = 4096;

function entries(values: Record<string, string>): SecretEntry[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: Buffer.from(value) }));
}

function read(region: Uint8Array): Record<string, string> {
  const index = indexRecords(region, currentGeneration(region));
  return Object.fromEntries(
    [...index].map(([key, { start, end }]) => [key, Buffer.from(region.subarray(start, end)).toString()]),
  );
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

test('the first generation lies at offset 0 as KEY=VALUE NUL', () => {
  const region = new Uint8Array(page);
  writeFirstGeneration(region, entries({ A: 'one', B: '' }));
  assert.is(text(region.subarray(0, 11)), 'A=one\0B=\0\0\0');
  assert.equal(currentGeneration(region), { word: 0n, number: 0, start: 0, end: page - 8 });
});

test('generations go round three slots; the one before the old one is zeroed', () => {
  const region = new Uint8Array(page);
  writeFirstGeneration(region, entries({ A: '0' }));
  for (let number = 1; number < 10; number++) {
    assert.is(writeGeneration(region, entries({ A: `${number}` })), number);
    assert.equal(read(region), { A: `${number}` });
    assert.is(currentGeneration(region).start, (number % 3) * slotSize(page));
    const old = slotOffset(number - 1, page);
    assert.is(text(region.subarray(old, old + 4)), `A=${number - 1}\0`);
    if (number >= 2) {
      const gone = slotOffset(number - 2, page);
      assert.ok(region.subarray(gone, gone + slotSize(page)).every((byte) => byte === 0));
    }
  }
});

test('the word holds the offset in its low and the number in its high half, little-endian', () => {
  const region = Buffer.alloc(page);
  writeGeneration(region, entries({ A: '1' }));
  writeGeneration(region, entries({ A: '2' }));
  assert.is(region.readUInt32LE(page - 8), 2 * slotSize(page));
  assert.is(region.readUInt32LE(page - 4), 2);
});

test('a generation is outdated when two more were written', () => {
  const region = new Uint8Array(page);
  writeFirstGeneration(region, entries({ A: '0' }));
  const first = currentGeneration(region);
  writeGeneration(region, entries({ A: '1' }));
  assert.not(isOutdated(region, first));
  writeGeneration(region, entries({ A: '2' }));
  assert.ok(isOutdated(region, first));
});

test('entries that exceed their slot change nothing', () => {
  const region = new Uint8Array(page);
  writeFirstGeneration(region, entries({ A: 'old' }));
  const before = region.slice();
  const long = entries({ A: 'x'.repeat(slotSize(page) - 3) });
  assert.is(encodedLength(long), slotSize(page) + 1);
  assert.not(fitsNextGeneration(region, long));
  assert.throws(
    () => writeGeneration(region, long),
    (error: { code: string }) => error.code === 'SECRET_REGION_TOO_SMALL',
  );
  assert.equal(region, before);
  assert.is(writeGeneration(region, entries({ A: 'x'.repeat(slotSize(page) - 4) })), 1);
});

test('a first generation longer than its slot is not replaced in place', () => {
  const region = new Uint8Array(page);
  const full = entries({ A: 'x'.repeat(page - 8 - 4) });
  assert.is(encodedLength(full), page - 8);
  writeFirstGeneration(region, full);
  assert.is(read(region)['A']?.length, page - 12);
  assert.not(fitsNextGeneration(region, entries({ A: '' })));
  const more = entries({ A: 'x'.repeat(page - 8 - 3) });
  assert.throws(
    () => writeFirstGeneration(new Uint8Array(page), more),
    (error: { code: string }) => error.code === 'SECRET_REGION_TOO_SMALL',
  );
});

test('names and values that a record cannot hold are refused by name, and nothing is written', () => {
  for (const [key, value] of [
    ['', 'v'],
    ['A=B', 'v'],
    ['A\0', 'v'],
    ['A', 'hidden\0value'],
  ] as const) {
    const region = new Uint8Array(page);
    assert.throws(
      () => writeGeneration(region, [...entries({ FIRST: '1' }), { key, value: Buffer.from(value) }]),
      (error: Error & { code: string }) =>
        error.code === 'SECRET_ENTRY_INVALID' &&
        error.message.includes(JSON.stringify(key)) &&
        !error.message.includes('hidden'),
    );
    assert.ok(region.every((byte) => byte === 0));
  }
});

test('regionSize leaves room for a first generation, and spare room for growth', () => {
  assert.is(regionSize(page - 8, { spare: false }, page), page);
  assert.is(regionSize(page - 7, { spare: false }, page), 2 * page);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200_000 }), (length) => {
      const size = regionSize(length, { spare: true }, page);
      assert.is(size % page, 0);
      const slot = Math.max(2 * length, length + 65_536);
      assert.ok(slotSize(size) >= slot && size < 3 * slot + 24 + 8 + page);
    }),
  );
  const limited = regionSize(100, { spare: true, lockLimit: 65_536 }, page);
  assert.ok(slotSize(limited) > 5_000 && limited <= 20_480, 'a quarter of a small memory-lock limit');
  assert.is(slotSize(regionSize(9_000, { spare: true, lockLimit: 65_536 }, page)) >= 18_000, true);
});

test('whatever is written is read back, generation after generation', () => {
  const key = fc.string({ unit: 'binary', minLength: 1 }).map((k) => k.replace(/[=\0]/g, '_'));
  const value = fc.uint8Array({ maxLength: 60 }).map((bytes) => bytes.map((byte) => byte || 1));
  const set = fc.uniqueArray(fc.record({ key, value }), { selector: (entry) => entry.key, maxLength: 8 });
  fc.assert(
    fc.property(fc.array(set, { minLength: 1, maxLength: 6 }), (generations) => {
      const region = new Uint8Array(4 * page);
      for (const [number, written] of generations.entries()) {
        if (number === 0) writeFirstGeneration(region, written);
        else writeGeneration(region, written);
        const index = indexRecords(region, currentGeneration(region));
        assert.equal(
          [...index].map(([name, { start, end }]) => [name, Buffer.from(region.subarray(start, end))]),
          written.map((entry) => [entry.key, Buffer.from(entry.value)]),
        );
      }
    }),
  );
});

test.run();
