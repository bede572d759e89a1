import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { VaultError } from '../../../src/keyserver/contract.ts';
import { HangGuard } from '../../../src/keyserver/hang-guard.ts';
import type { KeyPurpose, ObjectName } from '../../../src/objects/format/metadata.ts';
import type { DataKeys, FreshKey } from '../../../src/objects/keys/data-keys.ts';
import { aheadLifeMs, createPartKeys } from '../../../src/objects/multipart/part-keys.ts';
import { rejection, vaultFailure } from '../../keyserver/rejection.ts';
import { quietLog } from '../../support/quiet-log.ts';
import { startVirtualTime } from '../../support/virtual-time.ts';

const test = suite('keys of parts');
const name = { bucket: 'bucket', key: 'key' };
const upload = 'manifest';

interface Made extends FreshKey {
  readonly part: number;
}

/** Answers a turn of the event loop later, or as a test says. */
class Keys implements Pick<DataKeys, 'create'> {
  readonly calls: { readonly numbers: number[]; readonly signal: AbortSignal | undefined }[] = [];
  readonly made: Made[] = [];
  answer: (count: number) => Promise<void> = () => new Promise((resolve) => setImmediate(resolve));

  async create(
    _name: ObjectName,
    purposes: readonly KeyPurpose[],
    signal?: AbortSignal,
  ): Promise<FreshKey[]> {
    const numbers = purposes.map((purpose) => {
      assert.ok(purpose.kind === 'part' && purpose.upload.startsWith(upload));
      return purpose.number;
    });
    this.calls.push({ numbers, signal });
    await this.answer(numbers.length);
    signal?.throwIfAborted();
    const keys = numbers.map((part) => ({
      ...{ part, key: Buffer.alloc(32, 1), keyVersion: 1 },
      ciphertext: `vault:v1:${part}:${this.made.length}`,
    }));
    this.made.push(...keys);
    return keys;
  }

  get sizes(): number[] {
    return this.calls.map(({ numbers }) => numbers.length);
  }

  /** Keys that are not zeroed. */
  get left(): number {
    return this.made.filter(({ key }) => key.some((byte) => byte !== 0)).length;
  }
}

const hangGuard = new HangGuard({ timeoutMs: 8_000, log: quietLog });

const setUp = (ahead = true) => {
  const keys = new Keys();
  return { keys, parts: createPartKeys(keys, { ahead, hangGuard }) };
};

/** Takes the keys of all parts, `atOnce` at a time, and zeroes them as whoever encrypts does. */
async function takeAll({ keys, parts }: ReturnType<typeof setUp>, numbers: readonly number[], atOnce = 1) {
  let next = 0;
  const given: FreshKey[] = [];
  const worker = async () => {
    while (next < numbers.length) {
      const number = numbers[next++] as number;
      const fresh = await parts.take(name, { upload, number });
      assert.is((fresh as Made).part, number, 'bound to the part');
      assert.ok(
        fresh.key.every((byte) => byte === 1),
        'not wiped before its use',
      );
      given.push(fresh);
      fresh.key.fill(0);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  assert.is(new Set(given).size, numbers.length, 'no key is given twice');
  return keys.calls.length;
}

const ascending = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

test('10,000 parts need at most 200 calls, upwards or downwards, one or many at a time', async () => {
  for (const atOnce of [1, 4, 16, 64])
    for (const numbers of [ascending(10_000), ascending(10_000).reverse()]) {
      const calls = await takeAll(setUp(), numbers, atOnce);
      assert.ok(calls <= 200, `${calls} calls, ${atOnce} at a time, from ${numbers[0]}`);
    }
});

test('where several proxies take parts in turn, each still needs few calls', async () => {
  const numbers = ascending(10_000).filter((number) => number % 3 === 0);
  const bed = setUp();
  const calls = await takeAll(bed, numbers, 8);
  assert.ok(calls <= 200, `${calls} calls`);
});

test('an upload of few parts asks for nothing ahead', async () => {
  const bed = setUp();
  await takeAll(bed, [1, 2, 3]);
  assert.equal(bed.keys.sizes, [1, 1, 1]);
  assert.is(bed.keys.left, 0);
});

test('in any order, every part gets a key of its own; calls are no more than parts, and keys at most eight each', async () => {
  const order = fc.uniqueArray(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(order, fc.integer({ min: 1, max: 20 }), async (numbers, atOnce) => {
      const bed = setUp();
      const calls = await takeAll(bed, numbers, atOnce);
      assert.ok(calls <= numbers.length);
      assert.ok(bed.keys.made.length <= 8 * numbers.length, `${bed.keys.made.length} for ${numbers.length}`);
      assert.ok(bed.keys.sizes.every((size) => size <= 128));
      bed.parts.close();
      assert.is(bed.keys.left, 0);
    }),
    { numRuns: 60 },
  );
});

test('a part that is sent again gets a new key, at once or later', async () => {
  const bed = setUp();
  await takeAll(bed, [1, 2, 3, 4, 5, 5, 4, 6]);
  await takeAll(bed, [7, 7, 7, 8], 4);
});

test('parts that are asked for while their batch is on its way wait for it', async () => {
  const bed = setUp();
  await takeAll(bed, [1, 2, 3]);
  await takeAll(bed, [4, 5, 6, 7], 4);
  assert.equal(
    bed.keys.calls.map(({ numbers }) => numbers),
    [[1], [2], [3], [4, 5, 6, 7, 8, 9, 10, 11]],
  );
});

test('keys are bound to their own upload', async () => {
  const { keys, parts } = setUp();
  for (const number of [1, 2, 3, 4]) await parts.take(name, { upload, number });
  await parts.take(name, { upload: `${upload}-other`, number: 5 });
  assert.equal(keys.sizes, [1, 1, 1, 8, 1]);
});

test('a caller that goes away leaves the batch to the others, and its own key is wiped', async () => {
  const { keys, parts } = setUp();
  for (const number of [1, 2, 3]) (await parts.take(name, { upload, number })).key.fill(0);
  const [first, second] = [new AbortController(), new AbortController()];
  const gone = [
    parts.take(name, { upload, number: 4 }, first.signal),
    parts.take(name, { upload, number: 5 }, second.signal),
  ].map(rejection);
  const kept = parts.take(name, { upload, number: 6 });
  const reasons = [new Error('one'), new Error('two')];
  first.abort(reasons[0]);
  second.abort(reasons[1]);
  assert.equal(await Promise.all(gone), reasons);
  (await kept).key.fill(0);
  assert.is(keys.calls.length, 4);
  assert.is(keys.left, 5, 'those of parts 7 to 11');
});

test('a caller that has gone asks for nothing', async () => {
  const { keys, parts } = setUp();
  await rejection(parts.take(name, { upload, number: 1 }, AbortSignal.abort(new Error('gone'))));
  assert.is(keys.calls.length, 0);
});

test('a batch that is refused is asked for again one by one, and no further batch is tried', async () => {
  const bed = setUp();
  bed.keys.answer = async (count) => {
    if (count > 1) throw new VaultError('rejected', 'no batches');
  };
  await takeAll(bed, [1, 2, 3]);
  await takeAll(bed, [4, 5, 6, 7, 8, 9], 6);
  assert.is(bed.keys.sizes.filter((size) => size > 1).length, 1);
  await takeAll(bed, [10, 11]);
  assert.equal(bed.keys.sizes.slice(-2), [1, 1]);
});

test('what a key gets alone after that is the error of its caller', async () => {
  const { keys, parts } = setUp();
  for (const number of [1, 2, 3]) await parts.take(name, { upload, number });
  keys.answer = async (count) => {
    throw new VaultError(count > 1 ? 'rejected' : 'denied', 'no');
  };
  await vaultFailure(parts.take(name, { upload, number: 4 }), 'denied');
});

test('a key server that is away is asked once, and all who wait hear of it', async () => {
  const { keys, parts } = setUp();
  for (const number of [1, 2, 3]) await parts.take(name, { upload, number });
  keys.answer = () => Promise.reject(new VaultError('unavailable', 'away'));
  const waiting = [4, 5, 6].map((number) =>
    vaultFailure(parts.take(name, { upload, number }), 'unavailable'),
  );
  await Promise.all(waiting);
  assert.is(keys.calls.length, 4);
  keys.answer = async () => undefined;
  assert.is(((await parts.take(name, { upload, number: 7 })) as Made).part, 7);
});

test('when an upload ends its keys are wiped, those on their way too', async () => {
  const bed = setUp();
  await takeAll(bed, ascending(40));
  assert.ok(bed.keys.left > 0);
  bed.parts.forget(upload);
  assert.is(bed.keys.left, 0);
  await takeAll(bed, [1, 2, 3]);
  const last = bed.parts.take(name, { upload, number: 4 });
  bed.parts.forget(upload);
  (await last).key.fill(0);
  assert.is(bed.keys.left, 0);
});

test('keys of an upload that is forgotten over many others are wiped at once', async () => {
  const bed = setUp();
  await takeAll(bed, ascending(4));
  assert.is(bed.keys.left, 7);
  for (let other = 0; other < 128; other++) {
    const { key } = await bed.parts.take(name, { upload: `${upload}-${other}`, number: 1 });
    key.fill(0);
  }
  assert.is(bed.keys.left, 0);
});

test('at the end of the process all are wiped, and what was asked for is given up', async () => {
  const bed = setUp();
  await takeAll(bed, ascending(40));
  bed.parts.close();
  assert.is(bed.keys.left, 0);
  await rejection(bed.parts.take(name, { upload, number: 9999 }));
  assert.is(bed.keys.left, 0);
});

test('a key that nobody takes is wiped after a minute, and its part gets another', async () => {
  const time = startVirtualTime();
  try {
    const bed = setUp();
    await takeAll(bed, [1, 2, 3, 4]);
    await new Promise((resolve) => setTimeout(resolve, aheadLifeMs - 10));
    assert.is(bed.keys.left, 7);
    await takeAll(bed, [5]);
    assert.is(bed.keys.calls.length, 4);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.is(bed.keys.left, 0);
    await takeAll(bed, [6]);
    assert.is(bed.keys.calls.length, 5);
  } finally {
    time.stop();
  }
});

test('no more than 256 keys of an upload are held, and 4,096 in all', async () => {
  const { keys, parts } = setUp();
  const take = async (id: string, number: number) =>
    (await parts.take(name, { upload: id, number })).key.fill(0);
  for (let one = 0; one < 24; one++) {
    const id = `${upload}-${one}`;
    // Five stretches: what was asked for ahead of each is left behind.
    for (const from of [1, 2000, 4000, 6000, 8000])
      for (let number = from; number < from + 160; number++) await take(id, number);
    const own = keys.made.length;
    assert.ok(own > 0 && keys.left <= 256 * (one + 1), `${keys.left} held`);
  }
  assert.ok(keys.left <= 4096 && keys.left > 2000, `${keys.left} held`);
  parts.close();
  assert.is(keys.left, 0);
});

test('an error comes in the time of one call, also where a batch was refused late', async () => {
  const keys = new Keys();
  const parts = createPartKeys(keys, {
    ahead: true,
    hangGuard: new HangGuard({ timeoutMs: 2_000, log: quietLog }),
  });
  for (const number of [1, 2, 3]) await parts.take(name, { upload, number });
  keys.answer = async (count) => {
    if (count === 1) return untilAborted(keys.calls.at(-1)?.signal);
    await new Promise((resolve) => setTimeout(resolve, 1_900));
    throw new VaultError('rejected', 'late');
  };
  const from = performance.now();
  await vaultFailure(parts.take(name, { upload, number: 4 }), 'unavailable');
  const took = performance.now() - from;
  assert.ok(took > 1_950 && took < 3_000, `${took} ms`);
});

/** Gives up after five seconds by itself. */
const untilAborted = (signal: AbortSignal | undefined) =>
  new Promise<void>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
    setTimeout(() => reject(new VaultError('unavailable', 'no answer')), 5_000);
  });

test('without keys ahead each part is a call with the signal of its caller', async () => {
  const { keys, parts } = setUp(false);
  const { signal } = new AbortController();
  for (let number = 1; number <= 8; number++) await parts.take(name, { upload, number }, signal);
  assert.equal(
    keys.calls.map(({ numbers }) => numbers),
    ascending(8).map((number) => [number]),
  );
  assert.ok(keys.calls.every((call) => call.signal === signal));
});

test.run();
