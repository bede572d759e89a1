import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { NoAnswerInTime, VaultError } from '../../src/keyserver/contract.ts';
import { HangGuard, KeyServerHangs } from '../../src/keyserver/hang-guard.ts';
import { joinedCalls } from '../../src/keyserver/joined-calls.ts';
import { startVirtualTime, type VirtualTime } from '../support/virtual-time.ts';
import { FakeCalls, inputsOf, turn, wholeRefusal } from './fake-calls.ts';
import { recorder } from './recorder.ts';
import { rejection } from './rejection.ts';

const test = suite('the guard for a key server that hangs');

let time: VirtualTime;
test.before.each(() => {
  time = startVirtualTime();
});
test.after.each(() => time.stop());

const timeoutMs = 5_000;
const pass = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function guardOver({ joined = false } = {}) {
  const calls = new FakeCalls();
  const { log, events } = recorder();
  const changes: boolean[] = [];
  const onChange = (hangs: boolean) => void changes.push(hangs);
  const guard = new HangGuard({ timeoutMs, log, onChange, now: time.now });
  const guarded = guard.guarded(joined ? joinedCalls(calls) : calls);
  const ask = (text: string, signal?: AbortSignal) => guarded.call(inputsOf(text), signal);
  /** Asks for what nobody answers. @returns the error, and how long it took */
  const askInVain = async (text = 'a', signal?: AbortSignal) => {
    const begun = time.now();
    const error = await rejection(ask(text, signal));
    return { error, took: time.now() - begun };
  };
  return { calls, guard, ask, askInVain, changes, logged: () => events.map(({ event }) => event) };
}

const about = (ms: number, wanted: number) => assert.ok(ms >= wanted && ms < wanted + 50, `${ms} ms`);

test('whoever has waited for the whole time is told so and waits no longer', async () => {
  const { calls, guard, askInVain, changes, logged } = guardOver();
  const all = await Promise.all(Array.from({ length: 20 }, () => askInVain()));
  for (const { error, took } of all) {
    assert.instance(error, KeyServerHangs);
    about(took, timeoutMs);
  }
  assert.is(calls.inFlight.size, 0);
  assert.equal(changes, [true]);
  assert.equal(logged(), ['vault.hangs']);
  assert.is(guard.patienceMs, 500);
});

test('while it hangs one has the whole time and one a moment; others wait a moment and ask nothing', async () => {
  const { calls, askInVain, changes } = guardOver();
  await askInVain();
  for (let round = 0; round < 2; round++) {
    const probe = askInVain();
    const others = [askInVain(), askInVain(), askInVain()];
    assert.is(calls.inFlight.size, 2);
    for (const { error, took } of await Promise.all(others)) {
      assert.instance(error, KeyServerHangs);
      about(took, 500);
    }
    assert.is(calls.inFlight.size, 1);
    about((await probe).took, timeoutMs);
  }
  assert.equal(changes, [true]);
});

test('those who wait for others to find out are served when it answers again, or leave', async () => {
  const { calls, ask, askInVain } = guardOver();
  await askInVain();
  const probe = ask('probe');
  const brief = ask('brief');
  const waiting = ask('waiting');
  const leaving = new AbortController();
  const left = askInVain('left', leaving.signal);
  leaving.abort('gone');
  assert.is((await left).error, 'gone');
  await pass(300);
  calls.made[2]?.answer();
  await brief;
  await turn();
  assert.equal(calls.sent.at(-1), ['waiting']);
  await pass(3_000);
  await calls.finish();
  await Promise.all([probe, waiting]);
});

test('the first answer ends it, whoever gets it', async () => {
  const { calls, guard, ask, askInVain, changes, logged } = guardOver();
  await askInVain();
  const probe = askInVain();
  const brief = ask('back');
  await turn();
  calls.made.at(-1)?.answer();
  await brief;
  assert.equal(changes, [true, false]);
  assert.equal(logged(), ['vault.hangs', 'vault.answers']);
  assert.is(guard.patienceMs, timeoutMs);
  const next = ask('slow');
  await pass(3_000);
  calls.made.at(-1)?.answer();
  await next;
  assert.instance((await probe).error, KeyServerHangs);
  assert.equal(changes, [true, false]);
});

test('one that answers slowly is found out by the one with the whole time', async () => {
  const { calls, ask, askInVain, changes } = guardOver();
  await askInVain();
  const probe = ask('slow');
  about((await askInVain()).took, 500);
  await pass(1_000);
  calls.made[1]?.answer();
  await probe;
  assert.equal(changes, [true, false]);
});

test('a caller that goes away makes nothing hang, and leaves its place to the next', async () => {
  const { calls, askInVain, changes } = guardOver();
  const gone = new AbortController();
  const leaving = askInVain('a', gone.signal);
  gone.abort('gone');
  assert.is((await leaving).error, 'gone');
  assert.equal(changes, []);
  await askInVain();
  const probe = new AbortController();
  const probing = askInVain('a', probe.signal);
  probe.abort('gone');
  await probing;
  about((await askInVain()).took, timeoutMs);
  assert.is(calls.inFlight.size, 0);
  assert.is((await askInVain('a', AbortSignal.abort('before'))).error, 'before');
});

test('a refusal is an answer, a connection that breaks is none and does not hang', async () => {
  const { calls, ask, askInVain, changes } = guardOver();
  const failing = async (error: VaultError) => {
    const asked = rejection(ask('a'));
    await pass(10);
    calls.made.at(-1)?.fail(error);
    assert.is(await asked, error);
  };
  const broken = new VaultError('unavailable', 'ECONNREFUSED');
  await failing(broken);
  assert.equal(changes, []);
  await askInVain();
  await failing(broken);
  assert.equal(changes, [true]);
  await failing(new VaultError('unavailable', 'sealed', { status: 503 }));
  assert.equal(changes, [true, false]);
});

test('what took too long while others had answers does not hang', async () => {
  const { calls, ask, askInVain, changes, logged } = guardOver();
  const waiting = askInVain();
  const answered = ask('b');
  await pass(100);
  calls.made[1]?.answer();
  await answered;
  const { error } = await waiting;
  assert.is(error instanceof NoAnswerInTime && !(error instanceof KeyServerHangs), true);
  assert.equal(changes, []);
  assert.equal(logged(), []);
});

test('a client that gives up before the time is over says the same', async () => {
  const { calls, ask, changes } = guardOver();
  const asked = rejection(ask('a'));
  await pass(4_900);
  calls.made[0]?.fail(new NoAnswerInTime('no complete answer within 1000 ms'));
  assert.instance(await asked, KeyServerHangs);
  assert.equal(changes, [true]);
});

test('where calls are joined each has its own time, in flight or waiting, and leaves nothing behind', async () => {
  const { calls, askInVain } = guardOver({ joined: true });
  const took: Promise<{ took: number }>[] = [];
  for (let n = 0; n < 6; n++) {
    took.push(askInVain(`${n}`));
    await pass(100);
  }
  for (const one of await Promise.all(took)) about(one.took, timeoutMs);
  await turn();
  assert.is(calls.inFlight.size, 0);
});

test('callers of a joined call that is refused late have no more time for another', async () => {
  const { calls, askInVain } = guardOver({ joined: true });
  const asked = ['a', 'b', 'c'].map((text) => askInVain(text));
  await pass(4_000);
  assert.equal(calls.sent, [['a', 'b', 'c']]);
  calls.made[0]?.fail(wholeRefusal());
  await turn();
  assert.equal(calls.sent.slice(1), [['a'], ['b']]);
  for (const { took } of await Promise.all(asked)) about(took, timeoutMs);
});

test.run();
