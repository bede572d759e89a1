import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { VaultError } from '../../src/keyserver/contract.ts';
import type { RenewedLease } from '../../src/keyserver/logins.ts';
import { TokenKeeper } from '../../src/keyserver/token-keeper.ts';

const keeper = suite('token keeper');
const signal = new AbortController().signal;

type RenewalReply = { leaseSeconds: number | undefined; renewable: boolean; replaced: boolean } | VaultError;

/** A client that answers in turn and notes what was asked of it. */
function client(...answers: RenewalReply[]) {
  const calls: string[] = [];
  const answer = (call: string) => async () => {
    calls.push(call);
    const next = answers.shift();
    if (next === undefined) throw new Error('nothing more was expected');
    if (next instanceof VaultError) throw next;
    return next;
  };
  return { calls, logIn: answer('login'), renew: answer('renew') as () => Promise<RenewedLease> };
}

const fresh = { leaseSeconds: 100, renewable: true, replaced: true };
/** What a renewal, or a lookup of the same token, answers. */
const same = (leaseSeconds: number | undefined, renewable = true) => ({
  leaseSeconds,
  renewable,
  replaced: false,
});
const denied = new VaultError('denied', 'no');

keeper('renews for as long as that gains time', async () => {
  const server = client(fresh, same(50));
  const tokens = new TokenKeeper(server, fresh);
  assert.equal([await tokens.tend(signal), await tokens.tend(signal)], ['renewed', 'renewed']);
  assert.equal(server.calls, ['renew', 'renew']);
});

keeper('logs in again near the maximum of a token', async () => {
  const server = client(same(49), { ...fresh, leaseSeconds: 30 }, fresh);
  const tokens = new TokenKeeper(server, fresh);
  assert.is(await tokens.tend(signal), 'logged-in');
  assert.is(await tokens.tend(signal), 'renewed');
  assert.equal(server.calls, ['renew', 'login', 'renew']);
});

keeper(
  'logs in instead of a renewal that is refused, and does not ask for the refused one again',
  async () => {
    const server = client(denied, denied, denied, fresh, fresh);
    const tokens = new TokenKeeper(server, fresh);
    for (const _ of [1, 2]) assert.is(await tokens.tend(signal).catch((error: unknown) => error), denied);
    assert.is(await tokens.tend(signal), 'logged-in');
    assert.is(await tokens.tend(signal), 'renewed');
    assert.equal(server.calls, ['renew', 'login', 'login', 'login', 'renew']);
  },
);

keeper('asks for no login while the key server is away', async () => {
  const server = client(new VaultError('unavailable', 'away'), fresh);
  const tokens = new TokenKeeper(server, fresh);
  const error = await tokens.tend(signal).catch((reason: unknown) => reason);
  assert.is((error as VaultError).kind, 'unavailable');
  assert.is(await tokens.tend(signal), 'renewed');
  assert.equal(server.calls, ['renew', 'renew']);
});

keeper('tends a token well before it ends, and else at the interval', () => {
  const delay = (leaseSeconds: number) =>
    new TokenKeeper(client(), { leaseSeconds, renewable: true }).delayMs(300_000);
  assert.equal([delay(0), delay(3600), delay(30)], [300_000, 300_000, 20_000]);
});

keeper('waits no longer for a retry than half of what is left of the token, a second at least', async () => {
  let now = 0;
  const tokens = new TokenKeeper(client(fresh), fresh, () => now);
  const waits = [0, 60, 99, 100, 200].map((seconds) => {
    now = seconds * 1000;
    return tokens.longestRetryMs();
  });
  const never = Number.POSITIVE_INFINITY;
  assert.equal(waits, [50_000, 20_000, 1_000, never, never]);
  await tokens.tend(signal);
  assert.is(tokens.longestRetryMs(), 50_000);
  assert.is(new TokenKeeper(client(), { leaseSeconds: 0, renewable: false }).longestRetryMs(), never);
});

keeper('renews at once what may not be looked up, and knows its end from then on', async () => {
  const server = client(same(30), same(30));
  const tokens = new TokenKeeper(server, same(undefined), () => 0);
  assert.equal(
    [tokens.delayMs(300_000), tokens.longestRetryMs(), tokens.secondsLeft()],
    [1_000, 1_000, undefined],
  );
  assert.is(await tokens.tend(signal), 'renewed');
  assert.equal([tokens.delayMs(300_000), tokens.secondsLeft()], [20_000, 30]);
  assert.is(await tokens.tend(signal), 'renewed');
  assert.equal([server.calls, tokens.fading], [['renew', 'renew'], undefined]);
});

keeper('a renewal that gains little tells the end, also where a lookup is refused', async () => {
  const tokens = new TokenKeeper(client(same(30), same(9), same(undefined)), same(undefined), () => 0);
  await tokens.tend(signal);
  assert.is(await tokens.tend(signal), 'renewed');
  assert.is(tokens.secondsLeft(), 9);
  assert.match(tokens.fading ?? '', 'the token ends in 9 s, and nothing renews or replaces it');
});

keeper('counts a lookup of the same token as nothing but that', async () => {
  const tokens = new TokenKeeper(client(same(70, false), same(20, false)), same(100, false), () => 0);
  assert.equal([await tokens.tend(signal), tokens.fading], ['kept', undefined]);
  assert.is(await tokens.tend(signal), 'kept');
  assert.match(tokens.fading ?? '', 'ends in 20 s');
});

keeper('tells a refused renewal for as long as the token is the same', async () => {
  const server = client(denied, same(90), denied, fresh);
  const tokens = new TokenKeeper(server, same(100), () => 0);
  assert.is(await tokens.tend(signal), 'kept');
  assert.match(tokens.fading ?? '', 'ends in 90 s, and its renewal is refused');
  assert.is(await tokens.tend(signal), 'logged-in');
  assert.is(tokens.fading, undefined);
});

keeper('tells that neither lookup nor renewal is granted', async () => {
  const tokens = new TokenKeeper(client(denied, same(undefined)), same(undefined), () => 0);
  assert.is(await tokens.tend(signal), 'kept');
  assert.match(tokens.fading ?? '', 'neither looked up nor renewed');
  assert.is(tokens.delayMs(300_000), 300_000);
});

keeper.run();
