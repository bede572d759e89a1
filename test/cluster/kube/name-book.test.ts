import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createNameBook, type NameAnswer, type NameBook } from '../../../src/cluster/kube/name-book.ts';

interface Rig {
  book: NameBook;
  now: number;
  answer: NameAnswer;
  asked: string[];
}

const test = suite<Rig>('addresses of names');
const { signal } = new AbortController();
const host = 'vault.example.com';
const answer = (...addresses: string[]): NameAnswer => ({ addresses, failed: false });
const failed = (...addresses: string[]): NameAnswer => ({ addresses, failed: true });

test.before.each((rig) => {
  rig.now = 1_000;
  rig.answer = answer('192.0.2.1');
  rig.asked = [];
  const resolver = async (name: string) => {
    rig.asked.push(name);
    return rig.answer;
  };
  rig.book = createNameBook({ resolver, now: () => rig.now, keepMs: 100, freshMs: 10, maxNames: 3 });
});

async function after(rig: Rig, ms: number, next: NameAnswer): Promise<readonly string[]> {
  rig.now += ms;
  rig.answer = next;
  return rig.book.addressesOf(host, signal);
}

test('are asked for again only after a while', async (rig) => {
  assert.equal(await rig.book.addressesOf(host, signal), ['192.0.2.1']);
  assert.equal(await after(rig, 9, answer('192.0.2.2')), ['192.0.2.1']);
  assert.equal(await after(rig, 1, answer('192.0.2.2')), ['192.0.2.1', '192.0.2.2']);
  assert.is(rig.asked.length, 2);
});

test('stay until the name has not pointed there for long enough', async (rig) => {
  await rig.book.addressesOf(host, signal);
  assert.equal(await after(rig, 99, answer('192.0.2.2')), ['192.0.2.1', '192.0.2.2']);
  assert.equal(await after(rig, 50, answer('192.0.2.2')), ['192.0.2.2']);
  assert.equal(await after(rig, 200, answer()), []);
});

test('do not age while DNS fails', async (rig) => {
  await rig.book.addressesOf(host, signal);
  assert.equal(await after(rig, 5_000, failed()), ['192.0.2.1']);
  assert.equal(await after(rig, 99, answer('192.0.2.2')), ['192.0.2.1', '192.0.2.2']);
  assert.equal(await after(rig, 50, failed('192.0.2.3')), ['192.0.2.1', '192.0.2.2', '192.0.2.3']);
});

test('are remembered from before without hiding what is newer', async (rig) => {
  rig.book.remember(host, new Map([['192.0.2.9', 0]]));
  assert.equal(await after(rig, 99, answer('192.0.2.1')), ['192.0.2.1', '192.0.2.9']);
  rig.book.remember(host, new Map([['192.0.2.1', 0]]));
  assert.equal(await after(rig, 50, answer()), ['192.0.2.1']);
});

const day = 24 * 3_600_000;

test('do not stay for ever while DNS fails, or for one family only', async (rig) => {
  rig.book = createNameBook({ resolver: async () => rig.answer, now: () => rig.now, keepMs: day });
  assert.equal(await after(rig, 0, answer('192.0.2.1', '2001:db8::1')), ['192.0.2.1', '2001:db8::1']);
  const fails6: NameAnswer = { addresses: ['192.0.2.2'], failed: true, failedFamily: 6 };
  assert.equal(await after(rig, day, fails6), ['192.0.2.2', '2001:db8::1']);
  assert.equal(await after(rig, 5 * day, failed()), ['192.0.2.2', '2001:db8::1']);
  assert.equal(await after(rig, day, failed()), ['192.0.2.2']);
  assert.equal(await after(rig, day, failed()), []);
});

test('are remembered with the time of the last sight', async (rig) => {
  rig.book = createNameBook({ resolver: async () => rig.answer, now: () => rig.now, keepMs: day });
  rig.book.remember(
    host,
    new Map([
      ['192.0.2.8', day / 2],
      ['192.0.2.9', day],
    ]),
  );
  assert.equal(await after(rig, 0, answer('192.0.2.1')), ['192.0.2.1', '192.0.2.8']);
  assert.is(rig.book.unseenMs(host, '192.0.2.8'), day / 2);
  assert.is(rig.book.unseenMs(host, '192.0.2.1'), 0);
  assert.equal(await after(rig, day / 2, answer('192.0.2.1')), ['192.0.2.1']);
});

test('are bounded: names that were not asked for longest are forgotten, and so are addresses beyond 1,024', async (rig) => {
  for (const name of ['a', 'b', 'c', 'a', 'd']) await rig.book.addressesOf(name, signal);
  rig.asked.length = 0;
  for (const name of ['a', 'd', 'b']) await rig.book.addressesOf(name, signal);
  assert.equal(rig.asked, ['b']);
  const many = Array.from({ length: 1100 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
  assert.is((await after(rig, 20, answer(...many))).length, 1024);
});

test('reject with the reason of the signal', async (rig) => {
  const reason = new Error('the end');
  const book = createNameBook({
    ...{ now: () => rig.now },
    resolver: async (_host, given) => {
      given.throwIfAborted();
      return answer();
    },
  });
  await book.addressesOf(host, AbortSignal.abort(reason)).then(
    () => assert.unreachable(),
    (error) => assert.is(error, reason),
  );
});

test('contain every answer of the last while and nothing older', async () => {
  const step = fc.record({ ms: fc.integer({ min: 10, max: 60 }), last: fc.integer({ min: 1, max: 5 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1 }), async (steps) => {
      let now = 0;
      let next = answer();
      const book = createNameBook({ resolver: async () => next, now: () => now, keepMs: 100, freshMs: 10 });
      const seen: { at: number; address: string }[] = [];
      for (const { ms, last } of steps) {
        now += ms;
        next = answer(`192.0.2.${last}`);
        seen.push({ at: now, address: `192.0.2.${last}` });
        const expected = new Set(seen.filter(({ at }) => now - at < 100).map(({ address }) => address));
        assert.equal(await book.addressesOf(host, signal), [...expected].sort());
      }
    }),
  );
});

test('are asked for ever less often while no server answers, and as before once one does', async (rig) => {
  const after100 = async (next: NameAnswer) => {
    await after(rig, 100, next);
    return rig.asked.splice(0).length;
  };
  for (let round = 0; round < 10; round++) await after100(failed());
  let count = 0;
  for (let round = 0; round < 100; round++) count += await after100(failed());
  assert.ok(count < 10, `${count} of 100`);
  for (let round = 0; round < 5_000; round++) count = await after100(failed('192.0.2.4'));
  assert.is(count, 1);
  assert.is(await after100(failed()), 1);
});

/** A book of which each question is answered when the test says so. */
function heldBook() {
  const asked = new Map<string, (found: NameAnswer) => void>();
  const resolver = (name: string) =>
    new Promise<NameAnswer>((resolve) => {
      asked.set(name, resolve);
    });
  const over = Promise.withResolvers<void>();
  const patience = { isOver: false, over: over.promise };
  const end = () => {
    patience.isOver = true;
    over.resolve();
  };
  const book = createNameBook({ resolver, now: () => 0 });
  return { book, asked, patience, end };
}

test('are those known from before when patience is over, and those of the answer at the next call', async () => {
  const { book, asked, patience, end } = heldBook();
  book.remember(host, new Map([['192.0.2.9', 0]]), 'shop');
  const early = book.addressesOf(host, signal, 'shop', patience);
  end();
  assert.equal(await early, ['192.0.2.9']);
  assert.is(book.isPending(host, 'shop'), true);
  assert.equal(await book.addressesOf('other.example', signal, 'shop', patience), []);
  assert.is(book.isPending('other.example', 'shop'), true);
  assert.equal([...asked.keys()], [host]);
  asked.get(host)?.(answer('192.0.2.1'));
  assert.equal(await book.addressesOf(host, signal, 'shop'), ['192.0.2.1', '192.0.2.9']);
  assert.is(book.isPending(host, 'shop'), false);
});

test('of a scope are asked for 16 at a time, and of each scope at least one', async () => {
  const { book, asked, patience, end } = heldBook();
  const calls = Array.from({ length: 30 * 40 }, (_, at) =>
    book.addressesOf(`n${at}.example`, signal, `team-${Math.floor(at / 40)}`, patience),
  );
  assert.is(asked.size, 16 * 16 + 14);
  end();
  await Promise.all(calls);
});

/** Other addresses with each question, as many as an answer may have. */
function lyingBook(): { book: NameBook; clock: { now: number } } {
  const clock = { now: 0 };
  let count = 0;
  const next = () => {
    count += 1;
    return `10.${(count >> 16) & 255}.${(count >> 8) & 255}.${count & 255}`;
  };
  const resolver = async () => answer(...Array.from({ length: 256 }, next));
  const book = createNameBook({ resolver, now: () => clock.now, keepMs: 1e9, freshMs: 10, maxNames: 10_000 });
  return { book, clock };
}

test('of a scope are bounded, whatever its name servers answer, and the newest of each name stay', async () => {
  const { book, clock } = lyingBook();
  const names = Array.from({ length: 256 }, (_, index) => `n${index}.example`);
  let sum = 0;
  for (let round = 0; round < 6; round++) {
    clock.now += 20;
    sum = 0;
    for (const name of names) {
      const found = await book.addressesOf(name, signal, 'shop');
      assert.ok(found.length >= 8, `${found.length}`);
      sum += found.length;
    }
  }
  assert.ok(sum <= 4_096 + 256 * 8, `${sum}`);
  assert.is(book.isFull('shop'), true);
  assert.is(book.isFull('other'), false);
  assert.is((await book.addressesOf('a.example', signal, 'other')).length, 256);
});

test('of all scopes are bounded, too', async () => {
  const { book } = lyingBook();
  let sum = 0;
  for (let scope = 0; scope < 100; scope++)
    for (let name = 0; name < 10; name++)
      sum += (await book.addressesOf(`n${name}.example`, signal, `team-${scope}`)).length;
  assert.ok(sum <= 65_536 + 1_000 * 8 + 256, `${sum}`);
});

test.run();
