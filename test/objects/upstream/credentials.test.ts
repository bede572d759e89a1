import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  defaultCredentials,
  memoised,
  type StoreCredentials,
} from '../../../src/objects/upstream/credentials.ts';
import { mask, secrets } from '../../../src/runtime/logging/secrets.ts';
import { quiet, rejection } from './support.ts';

const test = suite('store credentials');

const minute = 60_000;
const refuse = (error: unknown) => new Error('none', { cause: error });

/** A provider that gives out `a1`, `a2` …, each for `lifeMs` from now. */
function counting(clock: { now: number }, lifeMs: number) {
  let calls = 0;
  const provider = async (): Promise<StoreCredentials> => {
    calls += 1;
    return { accessKeyId: `a${calls}`, secretAccessKey: 's', expiration: new Date(clock.now + lifeMs) };
  };
  return { provider, calls: () => calls };
}

test('keys of the environment are taken, the session token too', async () => {
  const env = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'key', AWS_SESSION_TOKEN: 'token' };
  assert.equal(await defaultCredentials(env, quiet)(), {
    accessKeyId: 'id',
    secretAccessKey: 'key',
    sessionToken: 'token',
  });
});

test('what is secret of them is kept out of the log', () => {
  const env = {
    AWS_ACCESS_KEY_ID: 'id-of-the-store',
    AWS_SECRET_ACCESS_KEY: 'key-of-the-store',
    AWS_SESSION_TOKEN: 'token-of-the-store',
  };
  defaultCredentials(env, quiet);
  const line = secrets.redact(Object.values(env).join(' '));
  assert.is(line, `id-of-the-store ${mask} ${mask}`);
});

test('credentials are fetched once at a time and kept', async () => {
  const clock = { now: 0 };
  const { provider, calls } = counting(clock, 60 * minute);
  const source = memoised(provider, refuse, () => clock.now);
  await Promise.all([source(), source(), source()]);
  assert.is((await source()).accessKeyId, 'a1');
  assert.is(calls(), 1);
});

test('they are renewed five minutes before they expire', async () => {
  const clock = { now: 0 };
  const { provider } = counting(clock, 60 * minute);
  const source = memoised(provider, refuse, () => clock.now);
  await source();
  clock.now = 54 * minute;
  assert.is((await source()).accessKeyId, 'a1');
  clock.now = 56 * minute;
  assert.is((await source()).accessKeyId, 'a2');
});

test('while newer ones cannot be had, those that have not expired serve', async () => {
  const clock = { now: 0 };
  let away = false;
  const provider = async (): Promise<StoreCredentials> => {
    if (away) throw new Error('away');
    return { accessKeyId: 'a', secretAccessKey: 's', expiration: new Date(60 * minute) };
  };
  const source = memoised(provider, refuse, () => clock.now);
  await source();
  away = true;
  clock.now = 58 * minute;
  assert.is((await source()).accessKeyId, 'a');
  clock.now = 61 * minute;
  assert.is((await rejection(Promise.resolve().then(source))).message, 'none');
});

test('a failure is not remembered', async () => {
  let away = true;
  const provider = async (): Promise<StoreCredentials> => {
    if (away) throw new Error('away');
    return { accessKeyId: 'a', secretAccessKey: 's' };
  };
  const source = memoised(provider, refuse);
  await rejection(Promise.resolve().then(source));
  away = false;
  assert.is((await source()).accessKeyId, 'a');
});

test.run();
