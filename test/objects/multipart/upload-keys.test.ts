import { randomBytes } from 'node:crypto';
import { mock } from 'node:test';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sealKeyOf } from '../../../src/objects/format/body-keys.ts';
import { UploadKeys, uploadKeyLifeMs } from '../../../src/objects/multipart/upload-keys.ts';

const test = suite('keys of open uploads');

const uploadOf = (id: number, format: 1 | 2 = 2) => ({
  ...{ bucket: 'photos', key: `big-${id}`, format, manifest: 'm'.repeat(22), seal: 'vault:v1:AAAA' },
  keyName: 'svc',
  binding: 'key' as const,
});

function world() {
  const dek = randomBytes(32);
  const given: Buffer[] = [];
  const calls: unknown[] = [];
  const keys = new UploadKeys({
    async unwrap(_name, _scheme, items) {
      calls.push(items[0]?.purpose);
      given.push(Buffer.from(dek));
      return given.slice(-1);
    },
  });
  return { dek, keys, given, calls };
}

const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
const isZero = (key: Buffer) => key.every((byte) => byte === 0);

test('parts that come together share one call, and each gets a copy of its own', async () => {
  const { dek, keys, calls } = world();
  const upload = uploadOf(1);
  const copies = await Promise.all([keys.dek(upload), keys.dek(upload), keys.dek(upload)]);
  for (const copy of copies) assert.equal(copy, dek);
  copies[0]?.fill(0);
  assert.equal(copies[1], dek);
  assert.equal(calls, [{ kind: 'seal', upload: upload.manifest, format: 2 }]);
  assert.equal(await keys.sealKey(upload), sealKeyOf(dek, upload.manifest));
  assert.is(calls.length, 1);
  keys.close();
});

test('one who goes away leaves the key to the others', async () => {
  const { promise, resolve } = Promise.withResolvers<Buffer[]>();
  const keys = new UploadKeys({ unwrap: () => promise });
  const gone = new AbortController();
  const first = keys.dek(uploadOf(1), gone.signal);
  const second = keys.dek(uploadOf(1));
  gone.abort(new Error('gone'));
  await first.then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'gone'),
  );
  resolve([Buffer.alloc(32, 7)]);
  assert.equal(await second, Buffer.alloc(32, 7));
  keys.close();
});

test('the seal key of format 1 is not kept', async () => {
  const { dek, keys, calls } = world();
  for (let time = 1; time <= 2; time++) assert.equal(await keys.sealKey(uploadOf(1, 1)), dek);
  assert.is(calls.length, 2);
});

test('a key is wiped when its upload ends, when all end, and when others need the room', async () => {
  const ends: readonly ((keys: UploadKeys) => void)[] = [
    (keys) => keys.forget(uploadOf(0)),
    (keys) => keys.close(),
    (keys) => {
      for (let id = 1; id <= 64; id++) keys.keep(uploadOf(id), randomBytes(32));
    },
  ];
  for (const end of ends) {
    const { keys, given, calls } = world();
    const copy = await keys.dek(uploadOf(0));
    end(keys);
    await settled();
    assert.ok(isZero(given[0] as Buffer));
    assert.not.ok(isZero(copy), 'those who have it keep it');
    await keys.dek(uploadOf(0));
    assert.is(calls.length, 2);
    keys.close();
  }
});

test('a key that nobody uses is wiped after a minute', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const { keys, given } = world();
    const upload = uploadOf(1);
    await keys.dek(upload);
    mock.timers.tick(uploadKeyLifeMs - 1);
    await keys.dek(upload);
    mock.timers.tick(uploadKeyLifeMs - 1);
    await settled();
    assert.not.ok(isZero(given[0] as Buffer));
    mock.timers.tick(1);
    await settled();
    assert.ok(isZero(given[0] as Buffer));
  } finally {
    mock.timers.reset();
  }
});

test('a refusal is not remembered', async () => {
  let refuse = true;
  const keys = new UploadKeys({
    async unwrap() {
      if (refuse) throw new Error('sealed');
      return [randomBytes(32)];
    },
  });
  await keys.dek(uploadOf(1)).then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'sealed'),
  );
  refuse = false;
  assert.is((await keys.dek(uploadOf(1))).length, 32);
  keys.close();
});

test.run();
