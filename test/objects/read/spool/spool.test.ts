import { readdirSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  Spool,
  type SpoolFile,
  SpoolSpace,
  SpoolUnavailable,
} from '../../../../src/objects/read/body/spool.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';

const test = suite('spool');
const { signal } = new AbortController();
let folder: TemporaryFolder;

test.before.each(() => {
  folder = temporaryFolder('spool');
});
test.after.each(() => folder.remove());

const spoolOf = (size: number, life?: number) =>
  new Spool({ folder: folder.path, space: new SpoolSpace(size), ...(life === undefined ? {} : { life }) });

const nonce = Buffer.alloc(12);
const fillWith = (text: string) => async (file: SpoolFile) => {
  await file.append(Buffer.from(text));
  return { file, nonce, size: text.length };
};

async function text(file: SpoolFile): Promise<string> {
  const buffer = Buffer.alloc(100);
  return buffer.toString('utf8', 0, await file.read(buffer, 0));
}

const isUnavailable = (error: unknown) => assert.ok(error instanceof SpoolUnavailable);

test('one fill serves all who ask for the same', async () => {
  const spool = spoolOf(100);
  let fills = 0;
  const fill = async (file: SpoolFile) => {
    fills += 1;
    await new Promise((resolve) => setTimeout(resolve, 10));
    return fillWith('body')(file);
  };
  const leases = await Promise.all([1, 2, 3].map(() => spool.lease('a', 4, fill, signal)));
  for (const { body } of leases) assert.is(await text(body.file), 'body');
  for (const lease of leases) lease.release();
  (await spool.lease('a', 4, fill, signal)).release();
  assert.is(fills, 1);
  spool.close();
  assert.is(spool.used, 0);
});

test('files have no name', async () => {
  const spool = spoolOf(100);
  const lease = await spool.lease('a', 4, fillWith('body'), signal);
  assert.equal(readdirSync(folder.path), []);
  lease.release();
  spool.close();
});

test('the oldest idle body makes room, one in use does not', async () => {
  const spool = spoolOf(10);
  (await spool.lease('old', 5, fillWith('old'), signal)).release();
  const used = await spool.lease('used', 5, fillWith('used'), signal);
  const fresh = await spool.lease('fresh', 5, fillWith('fresh'), signal);
  assert.is(spool.used, 10);
  await spool.lease('more', 5, fillWith('more'), signal).then(() => assert.unreachable(), isUnavailable);
  assert.is(await text(used.body.file), 'used');
  used.release();
  (await spool.lease('more', 5, fillWith('more'), signal)).release();
  fresh.release();
  spool.close();
  assert.is(spool.used, 0);
});

test('idle bodies hold no more than so many files', async () => {
  const spool = spoolOf(100_000);
  for (let index = 0; index < 300; index++)
    (await spool.lease(`body ${index}`, 4, fillWith('body'), signal)).release();
  assert.is(spool.used, 256 * 4);
  spool.close();
  assert.is(spool.used, 0);
});

test('what is larger than the bound, or has no folder, is unavailable', async () => {
  await spoolOf(10)
    .lease('a', 11, fillWith('a'), signal)
    .then(() => assert.unreachable(), isUnavailable);
  const lost = new Spool({ folder: `${folder.path}/missing`, space: new SpoolSpace(10) });
  await lost.lease('a', 5, fillWith('a'), signal).then(() => assert.unreachable(), isUnavailable);
  assert.is(lost.used, 0);
});

test('a failed fill fails all who wait, and the next one tries again', async () => {
  const spool = spoolOf(100);
  const fail = async () => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    throw new Error('tampered');
  };
  const outcomes = await Promise.allSettled([1, 2].map(() => spool.lease('a', 5, fail, signal)));
  assert.equal(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.is(spool.used, 0);
  (await spool.lease('a', 5, fillWith('good'), signal)).release();
  spool.close();
});

test('a fill goes on while somebody waits and stops when nobody does', async () => {
  const spool = spoolOf(100);
  let stopped = false;
  const { promise: gate, resolve: open } = Promise.withResolvers<void>();
  const fill = async (file: SpoolFile, stop: AbortSignal) => {
    const aborted = new Promise<never>((_, reject) =>
      stop.addEventListener('abort', () => {
        stopped = true;
        reject(stop.reason);
      }),
    );
    await Promise.race([gate, aborted]);
    return fillWith('body')(file);
  };
  const [first, second, third] = [new AbortController(), new AbortController(), new AbortController()];
  const one = spool.lease('a', 4, fill, first.signal);
  const two = spool.lease('a', 4, fill, second.signal);
  first.abort(new Error('gone'));
  await one.then(
    () => assert.unreachable(),
    (error: Error) => assert.is(error.message, 'gone'),
  );
  assert.is(stopped, false);
  open();
  (await two).release();
  const alone = spool.lease(
    'b',
    4,
    async (_, stop) => {
      await new Promise((_resolve, reject) => stop.addEventListener('abort', () => reject(stop.reason)));
      throw new Error('unreachable');
    },
    third.signal,
  );
  await new Promise((resolve) => setTimeout(resolve, 5));
  third.abort(new Error('gone'));
  await alone.then(
    () => assert.unreachable(),
    () => undefined,
  );
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.is(spool.used, 4);
  spool.close();
  assert.is(spool.used, 0);
});

test('a body goes when it was not used for its life', async () => {
  const spool = spoolOf(100, 5);
  (await spool.lease('a', 4, fillWith('body'), signal)).release();
  assert.is(spool.used, 4);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.is(spool.used, 0);
});

test('closing leaves what is in use until it is given back', async () => {
  const spool = spoolOf(100);
  const lease = await spool.lease('a', 4, fillWith('body'), signal);
  spool.close();
  assert.is(await text(lease.body.file), 'body');
  lease.release();
  lease.release();
  assert.is(spool.used, 0);
});

test.run();
