import { createHash, randomFillSync } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { NativeError, tryInt } from '../../../src/runtime/native/libc.ts';
import {
  mapFlags,
  mapMemory,
  pageSize,
  protection,
  type Region,
} from '../../../src/runtime/native/memory.ts';
import { ownMemoryMap } from '../../../src/runtime/native/process-lock.ts';
import { copyMemory, scrubCopies } from '../../../src/runtime/native/scrub.ts';
import { createSecretMemory } from '../../../src/runtime/native/secret-memory.ts';
import { runFixture } from './run-fixture.ts';

const memory = createSecretMemory({ requireMemfdSecret: true, requireLock: true });
const anonymousMemory = createSecretMemory({
  requireMemfdSecret: false,
  requireLock: true,
  call: () => {
    throw new NativeError('syscall', 38);
  },
});
const regions: Region[] = [];

/** A secret in protected memory. */
function secret(length: number, from = memory): Region {
  const region = from.allocate(length);
  regions.push(region);
  randomFillSync(region.bytes);
  return region;
}

/** A secret in memory that is not taken for V8's, which depends on where it comes to lie. */
function anonymousSecret(length: number): Region {
  const region = secret(length, anonymousMemory);
  const address = Number(region.address);
  const range = ownMemoryMap().find(({ start, end }) => start <= address && address < end);
  return (range?.start ?? 0) % (256 << 10) === 0 ? anonymousSecret(length) : region;
}

function digest({ bytes }: Region): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Memory of `malloc`, with copies of the bytes at the places. */
function copies(bytes: Buffer, length: number, ...places: readonly number[]): Buffer {
  const copy = Buffer.alloc(length, 1);
  for (const place of places) bytes.copy(copy, place);
  return copy;
}

const scrub = suite('scrubbing copies');

scrub.after.each(() => {
  for (const region of regions.splice(0)) region.release();
});

scrub('zeroes every copy of every secret, wherever it lies, and nothing beside it', () => {
  const [one, two] = [secret(24), secret(1700)];
  const before = regions.map(digest);
  const stride = 2000;
  const many = [1, 2, 3, 4].map(() =>
    copies(two.bytes, 100_000, ...Array.from({ length: 50 }, (_, at) => at * stride)),
  );
  const few = copies(one.bytes, 1000, 5, 29, 976);
  assert.is(scrubCopies([one.bytes, two.bytes], regions), 203);
  const expected = Buffer.alloc(100_000, 1);
  for (let at = 0; at < expected.length; at += stride) expected.fill(0, at, at + 1700);
  for (const native of many) assert.ok(native.equals(expected));
  assert.ok(few.equals(Buffer.alloc(1000, 1).fill(0, 5, 53).fill(0, 976)));
  assert.equal(regions.map(digest), before);
  assert.is(scrubCopies([one.bytes, two.bytes], regions), 0, 'a second time there is none');
});

scrub('zeroes what is left of a copy whose start is overwritten', () => {
  const one = secret(40);
  const native = copies(one.bytes, 100, 10).fill(1, 0, 20);
  assert.is(scrubCopies([one.bytes], regions), 1);
  assert.ok(native.equals(Buffer.alloc(100, 1).fill(0, 20, 50)));
});

scrub('leaves the regions that it is told to keep, and zeroes those that it is not', () => {
  const one = secret(100);
  const region = anonymousSecret(5000);
  one.bytes.copy(region.bytes, 4500);
  assert.is(scrubCopies([one.bytes], [one, region]), 0);
  assert.ok(region.bytes.subarray(4500, 4600).equals(one.bytes));
  assert.is(scrubCopies([one.bytes], [one]), 1);
  assert.ok(region.bytes.subarray(4500, 4600).equals(Buffer.alloc(100)));
});

scrub('zeroes a needle outside protected memory once, as the copy that it is', () => {
  const needle = randomFillSync(Buffer.alloc(100));
  const neighbour = Buffer.alloc(100_000, 7);
  assert.is(scrubCopies([needle], []), 1);
  assert.ok(needle.equals(Buffer.alloc(100)));
  assert.ok(neighbour.equals(Buffer.alloc(100_000, 7)));
});

scrub('passes over what may well be something else', () => {
  const monotone = Buffer.alloc(2000, 'abcd');
  const short = copies(secret(11).bytes, 100, 0);
  const before = [monotone, short].map((buffer) => Buffer.from(buffer));
  assert.is(scrubCopies([Buffer.from('abcdabcdabcdabcd'), ...regions.map(({ bytes }) => bytes)], regions), 0);
  assert.equal([monotone, short], before);
  assert.is(scrubCopies([], []), 0);
});

scrub('passes over a value that the environment holds, whoever needs it there', () => {
  const { json, output } = runFixture('scrub', { env: { ADDRESS: 'https://keys.example:8200' } });
  assert.is(json?.address, 'https://keys.example:8200', output);
  assert.is(json.scrubbed, 0);
});

scrub('works without privileges, without dumps and under a small memory-lock limit', () => {
  const { json, output } = runFixture('scrub', { ordinary: true, memlock: 65_536 });
  assert.is(json?.copied, 0, output);
});

scrub('looks for more secrets at once than a process may have descriptors', () => {
  const { json, output } = runFixture('scrub-many', { under: ['prlimit', '--nofile=128'] });
  assert.equal(json, { scrubbed: 1, copied: 0 }, output);
});

scrub('takes memory that has vanished for an answer', () => {
  const target = secret(4 * pageSize(), anonymousMemory);
  const mapping = mapMemory(3 * pageSize(), protection.readWrite, mapFlags.privateAnonymous);
  const { address } = mapping;
  mapping.bytes.fill(3);
  tryInt('munmap', address + BigInt(pageSize()), BigInt(pageSize()));
  assert.is(copyMemory(address, target.address, 3 * pageSize()), pageSize());
  mapping.unmap();
  assert.is(copyMemory(address, target.address, 10), 0);
});

scrub.run();
