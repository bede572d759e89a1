import { randomBytes } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { KeyRequest, Transit, VaultError, VaultResponse } from '../../src/keyserver/contract.ts';
import { createTransit } from '../../src/keyserver/transit.ts';
import { turn } from './fake-calls.ts';
import { rejection, vaultFailure } from './rejection.ts';

const test = suite('transit with joined calls');

interface Item {
  readonly plaintext?: string;
  readonly ciphertext?: string;
}

interface Held {
  readonly items: readonly Item[];
  answer(): void;
}

/** Its ciphertexts are the plaintexts; version 1 is no longer permitted, and `vault:v2:BADA` is refused. */
function resultOf({ plaintext, ciphertext = '' }: Item): Record<string, string> {
  if (plaintext !== undefined) return { ciphertext: `vault:v3:${plaintext}` };
  if (ciphertext.startsWith('vault:v1:'))
    return { error: 'ciphertext or signature version is disallowed by policy (too old)' };
  if (ciphertext === 'vault:v2:BADA') return { error: 'cipher: message authentication failed' };
  return { plaintext: ciphertext.slice('vault:v3:'.length) };
}

function respond(items: readonly Item[]): VaultResponse {
  const results = items.map(resultOf);
  const errors = results.flatMap(({ error }) => (error === undefined ? [] : [error]));
  const status = errors.length > 0 ? 400 : 200;
  if (items.length > 1) return { status, body: { data: { batch_results: results } } };
  return { status, body: status === 400 ? { errors } : { data: results[0] } };
}

/** A key server whose answers wait for `release`. */
function heldTransit(joinCalls = true) {
  const held: Held[] = [];
  const sizes: number[] = [];
  const bodies: Uint8Array[] = [];
  const client = {
    async exchange({ bytes }: KeyRequest): Promise<VaultResponse> {
      assert.ok(bytes);
      bodies.push(bytes.body);
      const { batch_input: batch, ...single } = JSON.parse(Buffer.from(bytes.body).toString());
      const items: Item[] = batch ?? [single];
      sizes.push(items.length);
      await new Promise<void>((answer) => held.push({ items, answer }));
      const { status, body } = respond(items);
      return { status, body: bytes.read({ status }, Buffer.from(JSON.stringify(body))) };
    },
  };
  const release = async () => {
    for (await twoTurns(); held.length > 0; await twoTurns())
      for (const call of held.splice(0)) call.answer();
  };
  const transit = createTransit(client, { mount: 'transit', keyName: 'svc', joinCalls });
  return { transit, sizes, bodies, release };
}

/** In the first one callers get their answers, in the second what they ask for then leaves. */
async function twoTurns(): Promise<void> {
  await turn();
  await turn();
}

const good = () => `vault:v3:${randomBytes(32).toString('base64')}`;
const keyIn = (ciphertext: string) => Buffer.from(ciphertext.slice('vault:v3:'.length), 'base64');
const unwrapAll = (transit: Transit, wrapped: readonly string[]) =>
  wrapped.map((ciphertext) => transit.unwrap([{ ciphertext }]));

/** Takes both places, so that what is asked for next has to wait. */
async function occupy(transit: Transit): Promise<Promise<Buffer[]>[]> {
  const unwrapping: Promise<Buffer[]>[] = [];
  for (let sent = 0; sent < 2; sent++) {
    unwrapping.push(...unwrapAll(transit, [good()]));
    await turn();
  }
  return unwrapping;
}

test('64 callers at a time are one call each way, and each gets its own key', async () => {
  const { transit, sizes, bodies, release } = heldTransit();
  const keys = Array.from({ length: 64 }, () => randomBytes(32));
  const wrapping = keys.map((key) => transit.wrap([{ key }]));
  await release();
  const wrapped = (await Promise.all(wrapping)).map(([one]) => one?.ciphertext ?? '');
  const unwrapping = unwrapAll(transit, wrapped);
  await release();
  const back = await Promise.all(unwrapping);
  assert.ok(back.every(([key], n) => keys[n]?.equals(key as Buffer)));
  assert.equal(sizes, [64, 64]);
  assert.ok(bodies.every((body) => body.every((byte) => byte === 0)));
});

test('calls are joined where that was asked for alone', async () => {
  const { transit, sizes, release } = heldTransit(false);
  const unwrapping = unwrapAll(transit, Array.from({ length: 9 }, good));
  await release();
  await Promise.all(unwrapping);
  assert.equal(sizes, new Array(9).fill(1));
});

test('wrapping does not wait for unwrapping', async () => {
  const { transit, sizes, release } = heldTransit();
  const unwrapping = unwrapAll(transit, [good(), good(), good()]);
  const wrapping = [randomBytes(32), randomBytes(32)].map((key) => transit.wrap([{ key }]));
  await turn();
  assert.equal(sizes, [3, 2]);
  await release();
  await Promise.all([...unwrapping, ...wrapping]);
});

test('a bad item is told as if it had been alone, and harms no other', async () => {
  for (const bad of ['vault:v1:AAAA', 'vault:v2:BADA']) {
    const items = [{ ciphertext: good() }, { ciphertext: bad }];
    const alone = heldTransit(false);
    const expected = [
      rejection(alone.transit.unwrap([{ ciphertext: bad }])),
      rejection(alone.transit.unwrap(items)),
    ];
    await alone.release();
    const joined = heldTransit();
    const before = await occupy(joined.transit);
    const others = [good(), good(), good()];
    const first = unwrapAll(joined.transit, others.slice(0, 2));
    const refused = [
      rejection(joined.transit.unwrap([{ ciphertext: bad }])),
      rejection(joined.transit.unwrap(items)),
    ];
    const last = unwrapAll(joined.transit, others.slice(2));
    await joined.release();
    assert.equal(joined.sizes, [1, 1, 6]);
    await Promise.all(before);
    const keys = await Promise.all([...first, ...last]);
    assert.ok(keys.every(([key], n) => key?.equals(keyIn(others[n] ?? ''))));
    for (const [n, error] of (await Promise.all(refused)).entries())
      assert.equal(shown(error as VaultError), shown((await expected[n]) as VaultError));
  }
});

const shown = ({ kind, message, nextStep, status, path, index, code }: VaultError) => ({
  ...{ kind, message, nextStep, status, path, index, code },
});

test('what is no wrapped key joins nobody', async () => {
  const { transit, sizes, release } = heldTransit();
  const unwrapping = unwrapAll(transit, [good(), good(), good()]);
  await vaultFailure(transit.unwrap([{ ciphertext: 'AAAA' }]), 'rejected');
  await release();
  await Promise.all(unwrapping);
  assert.equal(sizes, [3]);
});

test('a key that its owner gave up and zeroed while it waited never leaves', async () => {
  const { transit, sizes, release } = heldTransit();
  const wrapping: ReturnType<Transit['wrap']>[] = [];
  for (let sent = 0; sent < 2; sent++) {
    wrapping.push(transit.wrap([{ key: randomBytes(32) }]));
    await turn();
  }
  wrapping.push(transit.wrap([{ key: randomBytes(32) }]));
  const abort = new AbortController();
  const key = randomBytes(32);
  const gone = rejection(transit.wrap([{ key }], abort.signal));
  abort.abort('gone');
  key.fill(0);
  assert.is(await gone, 'gone');
  await release();
  const wrapped = (await Promise.all(wrapping)).map(([one]) => one?.ciphertext);
  assert.equal(sizes, [1, 1, 1]);
  assert.not.ok(wrapped.includes(`vault:v3:${Buffer.alloc(32).toString('base64')}`));
});

test('650 keys of one caller go beside others, in order', async () => {
  const { transit, sizes, release } = heldTransit();
  const many = Array.from({ length: 650 }, () => ({ ciphertext: good() }));
  const before = await occupy(transit);
  const unwrapping = transit.unwrap(many);
  const others = unwrapAll(transit, [good(), good()]);
  await release();
  const keys = await unwrapping;
  assert.ok(many.every(({ ciphertext }, n) => keys[n]?.equals(keyIn(ciphertext))));
  await Promise.all([...before, ...others]);
  assert.equal(sizes, [1, 1, 160, 2, 160, 160, 160, 10]);
});

test.run();
