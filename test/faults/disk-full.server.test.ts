import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MiB, putParts } from '../attacks/support/stored.ts';
import { descriptorsOf } from '../support/descriptors.ts';
import { type RawAnswer, rawHttp } from '../support/raw-http.ts';
import { rawState } from '../support/raw-state.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { type TemporaryFolder, temporaryFolder } from '../support/temporary.ts';
import { waitFor } from '../support/wait-for.ts';
import { canMount, onSmallDisk } from './support/on-small-disk.ts';

const mountable = canMount();
const test = suite(`a disk of 8 MiB that fills up (${mountable ? 'tmpfs' : 'by --spool-size'})`);
const bodies = { fits: randomBytes(3 * MiB), room: randomBytes(6 * MiB), large: randomBytes(20 * MiB) };
let folder: TemporaryFolder;
let rig: Rig;
let strict: RiggedProxy;
let lenient: RiggedProxy;

test.before(async () => {
  folder = temporaryFolder('small-disk');
  rig = await startRig();
  const small = ['--spool-dir', folder.path, '--verify-buffer', '64KiB', '--verify-budget', '1MiB'];
  const options = mountable
    ? {
        args: small,
        entry: onSmallDisk,
        env: { SMALL_DISK: folder.path, SMALL_DISK_ENTRY: process.env.SVC_TEST_ENTRY },
      }
    : { args: [...small, '--spool-size', '8MiB'] };
  strict = await rig.proxy({ ...options, args: [...options.args, '--strict'] });
  lenient = await rig.proxy(options);
  for (const [Key, Body] of Object.entries({ ...bodies, fits2: bodies.fits }))
    await strict.s3.send(new PutObjectCommand({ Bucket: rig.bucket, Key, Body }));
  await putParts(strict.s3, rig.bucket, 'parts', [bodies.large, bodies.fits]);
});
test.after(async () => {
  await rig?.stop();
  await folder?.remove();
});

const get = (via: RiggedProxy, key: string, headers = {}) =>
  rawHttp(`${via.url}/${rig.bucket}/${key}`, { headers });

function assertNoRoom({ status, code, headers }: RawAnswer, label: string): void {
  assert.is(`${status} ${code}`, '503 SlowDown', label);
  assert.ok(headers['retry-after'], label);
}

/** The files of what has ended are closed, and none was ever left under a name. */
async function assertNothingOnDisk(via: RiggedProxy): Promise<void> {
  const spooled = () => descriptorsOf(via.pid).files.filter((file) => file.includes('.svc-spool-'));
  await waitFor('closed files', () => spooled().length === 0, { details: () => spooled().join('\n') });
  assert.equal(readdirSync(`/proc/${via.pid}/root${folder.path}`), []);
}

test('strict: what does not fit is told to come again, and not a byte of it leaves', async () => {
  for (const key of ['large', 'parts']) assertNoRoom(await get(strict, key), key);
  assertNoRoom(await get(strict, 'large', { range: 'bytes=0-9' }), 'range');
  await assertNothingOnDisk(strict);
  assert.ok((await get(strict, 'fits')).body.equals(bodies.fits));
});

test('strict: many at a time are served whole or told to come again', async () => {
  for (let round = 0; round < 5; round++) {
    const answers = await Promise.all(Array.from({ length: 6 }, () => get(strict, 'fits')));
    for (const answer of answers)
      if (answer.status === 200) assert.ok(answer.complete && answer.body.equals(bodies.fits));
      else assertNoRoom(answer, 'many');
  }
  await assertNothingOnDisk(strict);
  assert.ok((await get(strict, 'fits')).body.equals(bodies.fits));
});

test('an upload of unknown length that does not fit is told to come again and stores nothing', async () => {
  const before = await rawState(rig);
  for (const via of [strict, lenient])
    for (const key of ['new', 'fits']) {
      const call = { method: 'PUT', headers: { 'transfer-encoding': 'chunked' }, body: bodies.large };
      assertNoRoom(await rawHttp(`${via.url}/${rig.bucket}/${key}`, call), key);
    }
  assert.equal(await rawState(rig), before);
  for (const via of [strict, lenient]) await assertNothingOnDisk(via);
});

test('what lies idle on a full disk is given up for an upload that needs the room', async () => {
  const range = { range: 'bytes=1000000-1000099' };
  for (const via of [strict, lenient])
    for (const key of ['fits', 'fits2']) {
      const { status, body } = await get(via, key, range);
      assert.is(status, 206);
      assert.equal(body, bodies.fits.subarray(1_000_000, 1_000_100));
    }
  assert.ok(
    descriptorsOf(strict.pid).files.some((file) => file.includes('.svc-spool-')),
    'something lies idle',
  );
  for (const via of [strict, lenient]) {
    const call = { method: 'PUT', headers: { 'transfer-encoding': 'chunked' }, body: bodies.room };
    assert.is((await rawHttp(`${via.url}/${rig.bucket}/room`, call)).status, 200);
  }
  assert.ok((await get(strict, 'room')).body.equals(bodies.room));
});

test('without --strict a full disk costs speed and nothing else', async () => {
  assert.ok((await get(lenient, 'large')).body.equals(bodies.large));
  const { status, body } = await get(lenient, 'large', { range: 'bytes=5000000-5000099' });
  assert.is(status, 206);
  assert.equal(body, bodies.large.subarray(5_000_000, 5_000_100));
  await assertNothingOnDisk(lenient);
});

test.run();
