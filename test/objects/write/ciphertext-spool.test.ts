import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SpoolFile, SpoolSpace } from '../../../src/objects/read/body/spool.ts';
import { CiphertextSpool, smallBytes } from '../../../src/objects/write/ciphertext-spool.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';
import { rejection } from '../upstream/support.ts';
import { MiB, pieces } from './support.ts';

const test = suite<{ folder: TemporaryFolder }>('ciphertext spool');

test.before((context) => {
  context.folder = temporaryFolder('spool');
});
test.after(async ({ folder }) => {
  await folder.remove();
});

test('little stays in memory', async ({ folder }) => {
  const space = new SpoolSpace(0);
  const spool = new CiphertextSpool(folder.path, space);
  const data = randomBytes(smallBytes);
  for (const piece of [data.subarray(0, 12), data.subarray(12)]) await spool.append(piece);
  assert.ok(spool.inMemory()?.equals(data));
  spool.close();
});

test('much goes to a file without a name and is read back', async ({ folder }) => {
  const space = new SpoolSpace(64 * MiB);
  const spool = new CiphertextSpool(folder.path, space);
  const data = randomBytes(9 * MiB + 5);
  for (const piece of pieces(data)) await spool.append(piece);
  assert.is(spool.inMemory(), undefined);
  assert.is(spool.length, data.length);
  assert.is(space.used, 16 * MiB);
  assert.equal(readdirSync(folder.path), []);
  const read: Buffer[] = [];
  for await (const piece of spool.read()) read.push(Buffer.from(piece));
  assert.ok(Buffer.concat(read).equals(data));
  spool.close();
  spool.close();
  assert.is(space.used, 0);
});

test('single bytes go to the disk in blocks', async ({ folder }) => {
  const written: number[] = [];
  const { append } = SpoolFile.prototype;
  SpoolFile.prototype.append = function (chunk) {
    written.push(chunk.length);
    return append.call(this, chunk);
  };
  try {
    const spool = new CiphertextSpool(folder.path, new SpoolSpace(64 * MiB));
    const data = randomBytes(200_000);
    for (let at = 0; at < data.length; at++) await spool.append(data.subarray(at, at + 1));
    const read: Buffer[] = [];
    for await (const piece of spool.read()) read.push(Buffer.from(piece));
    spool.close();
    assert.ok(Buffer.concat(read).equals(data));
    assert.equal(written, [65_536, 65_536, 65_536, 200_000 - 3 * 65_536]);
  } finally {
    SpoolFile.prototype.append = append;
  }
});

test('what does not fit is a 503, and the room is given back', async ({ folder }) => {
  const space = new SpoolSpace(8 * MiB);
  const spool = new CiphertextSpool(folder.path, space);
  await spool.append(randomBytes(8 * MiB));
  const error = await rejection(spool.append(randomBytes(1)));
  assert.is(error.code, 'SlowDown');
  assert.is(error.status, 503);
  spool.close();
  assert.is(space.used, 0);
});

test('a folder that cannot be written to is a 503', async ({ folder }) => {
  const space = new SpoolSpace(64 * MiB);
  const spool = new CiphertextSpool(join(folder.path, 'missing'), space);
  assert.is((await rejection(spool.append(randomBytes(smallBytes + 1)))).code, 'SlowDown');
  spool.close();
  assert.is(space.used, 0);
});

test.run();
