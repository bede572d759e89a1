import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ItemResults, type TransitCalls, VaultError } from '../../src/keyserver/contract.ts';
import { joinedCalls } from '../../src/keyserver/joined-calls.ts';
import type { ItemResult } from '../../src/keyserver/transit-messages.ts';
import { FakeCalls, inputsOf, turn, wholeRefusal } from './fake-calls.ts';
import { rejection, vaultFailure } from './rejection.ts';

const test = suite('joined calls');

type Asked = Promise<ItemResults<Buffer> | 'too large'>;

const toldBy = (result: ItemResult<Buffer>): string =>
  'value' in result ? result.value.toString() : result.error;

async function told(asked: Asked): Promise<string[]> {
  const answer = await asked;
  if (answer === 'too large') return [answer];
  return answer.results.map(toldBy);
}

/** One lane with both places taken: what is asked next has to wait. */
async function busyLane({ limit }: { limit?: number } = {}) {
  const calls = new FakeCalls(limit);
  const lane: TransitCalls<Buffer> = joinedCalls(calls);
  const ask = (...texts: string[]) => lane.call(inputsOf(...texts), undefined);
  const first = ask('first');
  await turn();
  const second = ask('second');
  await turn();
  const [one, other] = calls.made;
  assert.ok(one && other);
  return { calls, lane, ask, first, second, one, other };
}

test('what arrives in one turn leaves as one call at its end', async () => {
  const calls = new FakeCalls();
  const lane = joinedCalls(calls);
  const one = lane.call(inputsOf('a'), undefined);
  const other = lane.call(inputsOf('b', 'c'), undefined);
  assert.is(calls.made.length, 0);
  await turn();
  assert.equal(calls.sent, [['a', 'b', 'c']]);
  const alone = lane.call(inputsOf('d'), undefined);
  await turn();
  assert.equal(calls.sent.slice(1), [['d']]);
  await calls.finish();
  assert.equal(await told(one), ['a']);
  assert.equal(await told(other), ['b', 'c']);
  assert.equal(await told(alone), ['d']);
});

test('what arrives meanwhile leaves as one call, in order, when one has ended', async () => {
  const { calls, ask, one, other, first } = await busyLane();
  const asked = [ask('a'), ask('b', 'c'), ask('d')];
  await turn();
  assert.is(calls.made.length, 2);
  one.answer();
  await first;
  await turn();
  assert.equal(calls.sent.slice(2), [['a', 'b', 'c', 'd']]);
  const later = ask('e');
  other.answer();
  await turn();
  assert.equal(calls.sent.slice(3), [['e']]);
  await calls.finish();
  assert.equal(await Promise.all(asked.map(told)), [['a'], ['b', 'c'], ['d']]);
  assert.equal(await told(later), ['e']);
});

test('a call that fails makes room as well, and nobody else is told of it', async () => {
  const { calls, ask, one, first } = await busyLane();
  const waiting = ask('a');
  one.fail(new VaultError('unavailable', 'sealed'));
  await vaultFailure(first, 'unavailable');
  await calls.finish();
  assert.equal(await told(waiting), ['a']);
});

test('a call has at most 200 items, and no caller is cut in two', async () => {
  const { calls, ask } = await busyLane();
  const texts = (count: number, name: string) => Array.from({ length: count }, (_, n) => `${name}${n}`);
  const asked = [ask(...texts(150, 'a')), ask(...texts(51, 'b')), ask(...texts(149, 'c')), ask('d')];
  await calls.finish();
  assert.equal(
    calls.sent.slice(2).map(({ length }) => length),
    [150, 200, 1],
  );
  assert.equal(
    (await Promise.all(asked.map(told))).map(({ length }) => length),
    [150, 51, 149, 1],
  );
});

test('one bad item is told to its caller alone, whose other values are not', async () => {
  const { calls, ask } = await busyLane();
  const asked = [ask('a'), ask('b', 'bad', 'c'), ask('d')];
  await calls.finish();
  assert.equal(await Promise.all(asked.map(told)), [['a'], ['b', 'bad is refused', 'c'], ['d']]);
  assert.is(calls.made.length, 3);
});

test('a refusal of the whole call is followed by one call for each caller', async () => {
  const { calls, ask } = await busyLane();
  const asked = [ask('a', 'b'), ask('poison'), ask('c')];
  const refused = vaultFailure(asked[1] as Asked, 'rejected');
  await calls.finish();
  assert.equal(calls.sent.slice(2), [['a', 'b', 'poison', 'c'], ['a', 'b'], ['poison'], ['c']]);
  assert.equal(await told(asked[0] as Asked), ['a', 'b']);
  assert.equal(await told(asked[2] as Asked), ['c']);
  await refused;
});

test('those who are sent again go before those who came later, and alone', async () => {
  const { calls, ask, one, other } = await busyLane();
  const asked = [ask('a'), ask('poison')];
  asked[1]?.catch(() => undefined);
  one.answer();
  await turn();
  const later = ask('b');
  calls.made[2]?.answer();
  await turn();
  other.answer();
  await calls.finish();
  assert.equal(calls.sent.slice(2), [['a', 'poison'], ['a'], ['poison'], ['b']]);
  assert.equal(await told(later), ['b']);
});

test('what concerns the server is told to all callers at once', async () => {
  for (const kind of ['unavailable', 'denied', 'not-found'] as const) {
    const { calls, ask, one } = await busyLane();
    const asked = [ask('a'), ask('b')];
    one.answer();
    await turn();
    calls.made[2]?.fail(new VaultError(kind, 'of the server'));
    for (const each of asked) await vaultFailure(each, kind);
    assert.is(calls.made.length, 3);
  }
});

test('one that is aborted while it waits is told at once, and nothing of it is sent', async () => {
  const { calls, lane, ask } = await busyLane();
  const abort = new AbortController();
  const key = Buffer.from('key');
  const inputs = [{ plaintext: key }];
  const gone = rejection(lane.call(inputs, abort.signal));
  const staying = ask('b');
  abort.abort('gone');
  assert.is(await gone, 'gone');
  assert.is(calls.made.length, 2);
  await calls.finish();
  assert.equal(calls.sent.slice(2), [['b']]);
  assert.equal(await told(staying), ['b']);
});

test('one that was aborted before it asks is told so, and waits for nothing', async () => {
  const { calls, lane } = await busyLane();
  assert.is(await rejection(lane.call(inputsOf('a'), AbortSignal.abort('gone'))), 'gone');
  await calls.finish();
  assert.is(calls.made.length, 2);
});

test('one that is aborted after sending is told at once; its value is zeroed, the call goes on', async () => {
  const { calls, lane, ask, one } = await busyLane();
  const abort = new AbortController();
  const gone = rejection(lane.call(inputsOf('secret'), abort.signal));
  const staying = ask('b');
  one.answer();
  await turn();
  assert.equal(calls.sent[2], ['secret', 'b']);
  abort.abort('gone');
  assert.is(await gone, 'gone');
  assert.is(calls.made[2]?.signal?.aborted, false);
  await calls.finish();
  assert.equal(await told(staying), ['b']);
  assert.not.ok(calls.values.some((value) => value.toString() === 'secret'));
  assert.ok(calls.values.some((value) => value.equals(Buffer.alloc(6))));
});

test('one that is aborted in a call that has to be made again is in none of the further calls', async () => {
  for (const limit of [200, 2]) {
    const { calls, lane, ask, one } = await busyLane({ limit });
    const asked = [ask('a')];
    const abort = new AbortController();
    const gone = rejection(lane.call(inputsOf('gone'), abort.signal));
    asked.push(ask('poison'));
    one.answer();
    await turn();
    assert.equal(calls.sent[2], ['a', 'gone', 'poison']);
    abort.abort('gone');
    const refused = vaultFailure(asked[1] as Asked, 'rejected');
    await calls.finish();
    assert.is(await gone, 'gone');
    assert.equal(calls.sent.slice(3), [['a'], ['poison']]);
    assert.equal(await told(asked[0] as Asked), ['a']);
    await refused;
  }
});

test('one that is aborted while it waits to be sent again is not sent', async () => {
  const { calls, lane, ask, one } = await busyLane();
  const asked = [ask('a'), ask('poison')];
  const abort = new AbortController();
  const gone = rejection(lane.call(inputsOf('gone'), abort.signal));
  one.answer();
  await turn();
  const refused = vaultFailure(asked[1] as Asked, 'rejected');
  calls.made[2]?.answer();
  await turn();
  assert.equal(calls.sent.slice(2), [['a', 'poison', 'gone'], ['a']]);
  abort.abort('gone');
  assert.is(await gone, 'gone');
  await calls.finish();
  assert.equal(calls.sent.slice(4), [['poison']]);
  await refused;
});

test('one that has to go alone does so behind others, too', async () => {
  const { calls, ask, one, other } = await busyLane({ limit: 4 });
  const refused = [ask('a'), ask('poison')];
  refused[1]?.catch(() => undefined);
  one.answer();
  await turn();
  const large = ['b', 'c', 'd', 'e', 'f'].map((text) => ask(text));
  other.answer();
  await turn();
  assert.equal(calls.sent.slice(2), [
    ['a', 'poison'],
    ['b', 'c', 'd', 'e', 'f'],
  ]);
  calls.made[2]?.answer();
  await turn();
  calls.made[3]?.answer();
  await calls.finish();
  assert.equal(calls.sent.slice(4), [['a'], ['b', 'c'], ['d', 'e'], ['f'], ['poison']]);
  await vaultFailure(refused[1] as Asked, 'rejected');
  assert.equal(await Promise.all(large.map(told)), [['b'], ['c'], ['d'], ['e'], ['f']]);
});

test('a shared call is aborted when all its callers have gone, and its place is free', async () => {
  const { calls, lane, ask, one } = await busyLane();
  const aborts = [new AbortController(), new AbortController()];
  const gone = aborts.map(({ signal }, n) => rejection(lane.call(inputsOf(`${n}`), signal)));
  one.answer();
  await turn();
  const waiting = ask('b');
  aborts[0]?.abort('one');
  await turn();
  assert.is(calls.made[2]?.signal?.aborted, false);
  aborts[1]?.abort('other');
  assert.equal(await Promise.all(gone), ['one', 'other']);
  assert.is(calls.made[2]?.signal?.aborted, true);
  await turn();
  assert.equal(calls.sent[3], ['b']);
  await calls.finish();
  assert.equal(await told(waiting), ['b']);
});

test('a signal that serves many requests keeps no listener of one that has its answer', async () => {
  const { calls, lane } = await busyLane();
  const { signal } = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...given: Parameters<typeof addEventListener>) => {
    listeners++;
    addEventListener.apply(signal, given);
  };
  signal.removeEventListener = (...given: Parameters<typeof removeEventListener>) => {
    listeners--;
    removeEventListener.apply(signal, given);
  };
  const asked = lane.call(inputsOf('a'), signal);
  assert.is(listeners, 1);
  await calls.finish();
  await asked;
  assert.is(listeners, 0);
});

test('more than 10,000 items do not wait', async () => {
  const { calls, ask } = await busyLane();
  const texts = Array.from({ length: 200 }, (_, n) => `${n}`);
  const asked = Array.from({ length: 50 }, () => ask(...texts));
  await vaultFailure(ask('a'), 'unavailable');
  await calls.finish();
  assert.ok((await Promise.all(asked.map(told))).every(({ length }) => length === 200));
  const after = ask('b');
  await calls.finish();
  assert.equal(await told(after), ['b']);
});

test('those who are sent again are counted once', async () => {
  const { calls, ask, one } = await busyLane();
  const texts = Array.from({ length: 199 }, (_, n) => `${n}`);
  const asked = [ask(...texts), ask('poison')];
  asked[1]?.catch(() => undefined);
  one.answer();
  await turn();
  for (let n = 0; n < 50; n++) asked.push(ask(...texts));
  calls.made[2]?.answer();
  await turn();
  asked.push(ask('a'));
  await calls.finish();
  assert.equal(await told(asked.at(-1) as Asked), ['a']);
});

test('what was refused as too large goes again in smaller calls', async () => {
  const { calls, lane, ask } = await busyLane({ limit: 4 });
  const asked = [ask('a', 'b', 'c'), ask('d', 'e'), ask('f', 'g'), ask('h')];
  await calls.finish();
  assert.equal(await Promise.all(asked.map(told)), [['a', 'b', 'c'], ['d', 'e'], ['f', 'g'], ['h']]);
  assert.is(lane.most, 4);
  assert.equal(calls.sent.slice(2), [
    ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'],
    ['a', 'b', 'c'],
    ['d', 'e', 'f', 'g'],
    ['h'],
  ]);
});

test('one that has more items than fit is told to cut them', async () => {
  const { calls, ask } = await busyLane({ limit: 2 });
  const asked = [ask('a', 'b', 'c', 'd', 'e'), ask('f')];
  await calls.finish();
  assert.equal(await Promise.all(asked.map(told)), [['too large'], ['f']]);
});

test('whatever the schedule, each gets its own and no more than two calls are in flight', async () => {
  const text = fc.constantFrom('good', 'good', 'good', 'bad', 'poison');
  const step = fc.oneof(
    fc.record({ does: fc.constant('ask' as const), texts: fc.array(text, { minLength: 1, maxLength: 5 }) }),
    fc.record({ does: fc.constant('answer' as const), which: fc.nat(1) }),
    fc.record({ does: fc.constant('fail' as const), which: fc.nat(1) }),
    fc.record({ does: fc.constant('abort' as const), which: fc.nat(30) }),
    fc.record({ does: fc.constant('wait' as const) }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.constantFrom(1, 3, 7, 200),
      async (steps, limit) => {
        const calls = new FakeCalls(limit);
        const lane = joinedCalls(calls);
        const asked: { texts: string[]; abort: AbortController; ended: Asked }[] = [];
        for (const one of steps) {
          assert.ok(calls.inFlight.size <= 2);
          if (one.does === 'ask') {
            const texts = one.texts.map((kind, n) => `${kind}-${asked.length}-${n}`);
            const abort = new AbortController();
            const ended = lane.call(inputsOf(...texts), abort.signal);
            ended.catch(() => undefined);
            asked.push({ texts, abort, ended });
          } else if (one.does === 'answer') [...calls.inFlight][one.which]?.answer();
          else if (one.does === 'fail')
            [...calls.inFlight][one.which]?.fail(new VaultError('unavailable', 'away'));
          else if (one.does === 'abort') asked[one.which]?.abort.abort('gone');
          else await turn();
        }
        await calls.finish();
        const taken = new Set<Buffer>();
        for (const { texts, abort, ended } of asked) {
          const outcome = await ended.then(
            (answer) => answer,
            (error: unknown) => ({ error }),
          );
          if (outcome === 'too large') assert.ok(texts.length > lane.most);
          else if ('error' in outcome) assert.ok(isDue(outcome.error, texts, abort.signal));
          else {
            const expected = texts.map((own) => (own.startsWith('bad') ? `${own} is refused` : own));
            assert.equal(outcome.results.map(toldBy), expected);
            for (const result of outcome.results) if ('value' in result) taken.add(result.value);
          }
        }
        assert.ok(calls.values.every((value) => taken.has(value) || value.every((byte) => byte === 0)));
        assert.is(calls.inFlight.size, 0);
      },
    ),
    { numRuns: 300 },
  );
});

/** Only its own abort, its own poison and a server that is away may be told to a caller. */
function isDue(error: unknown, texts: readonly string[], signal: AbortSignal): boolean {
  if (error === 'gone') return signal.aborted;
  if (!(error instanceof VaultError)) return false;
  if (error.kind === 'unavailable') return true;
  return error.message === wholeRefusal().message && texts.some((text) => text.startsWith('poison'));
}

test.run();
