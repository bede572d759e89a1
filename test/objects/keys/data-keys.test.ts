import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Transit, TransitItem, WrapItem } from '../../../src/keyserver/contract.ts';
import { EnvelopeError } from '../../../src/objects/format/cipher.ts';
import type { BindingMode, KeyPurpose } from '../../../src/objects/format/metadata.ts';
import { createDataKeys } from '../../../src/objects/keys/data-keys.ts';

const test = suite('data keys');
const name = { bucket: 'b', key: 'k' };
const object: KeyPurpose = { kind: 'object' };
const part: KeyPurpose = { kind: 'part', upload: 'u', number: 3 };

interface FakeTransit extends Transit {
  readonly wrapped: WrapItem[];
  readonly unwrapped: TransitItem[];
}

/** Keeps what it is asked; `answer` makes the keys that it gives out. */
function fakeTransit(answer: () => Buffer = () => Buffer.alloc(32, 7)): FakeTransit {
  const wrapped: WrapItem[] = [];
  const unwrapped: TransitItem[] = [];
  return {
    keyName: 'svc',
    wrapped,
    unwrapped,
    async wrap(items) {
      wrapped.push(...items);
      return items.map((_, index) => ({ ciphertext: `vault:v4:${index}`, keyVersion: 4 }));
    },
    async unwrap(items) {
      unwrapped.push(...items);
      return items.map(answer);
    },
  };
}

const dataKeys = (transit: Transit, binding: BindingMode = 'key', requireBound = false) =>
  createDataKeys(transit, { binding, requireBound });

async function reasonOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
  } catch (error) {
    if (error instanceof EnvelopeError) return error.reason;
    throw error;
  }
  throw new Error('did not fail');
}

test('fresh keys are random, 32 bytes, and bound as configured', async () => {
  const transit = fakeTransit();
  const keys = await dataKeys(transit).create(name, [object, part]);
  assert.equal(
    keys.map(({ key, ciphertext, keyVersion }) => [key.length, ciphertext, keyVersion]),
    [
      [32, 'vault:v4:0', 4],
      [32, 'vault:v4:1', 4],
    ],
  );
  assert.is(keys[0]?.key.equals(keys[1]?.key as Buffer), false);
  assert.equal(
    transit.wrapped.map(({ associatedData }) => associatedData),
    ['["svc",1,null,"k","object"]', '["svc",1,null,"k","part","u",3]'],
  );
});

test('without binding no associated data is sent', async () => {
  const transit = fakeTransit();
  await dataKeys(transit, 'none').create(name, [object]);
  assert.is('associatedData' in (transit.wrapped[0] as object), false);
});

test('what is stored decides how keys are unwrapped, not the configuration', async () => {
  const transit = fakeTransit();
  const keys = dataKeys(transit, 'key');
  const item = [{ wrapped: 'vault:v1:AA==', purpose: object }];
  await keys.unwrap(name, { keyName: 'svc', binding: 'none' }, item);
  await keys.unwrap(name, { keyName: 'svc', binding: 'bucket-key' }, item);
  assert.equal(transit.unwrapped, [
    { ciphertext: 'vault:v1:AA==' },
    { ciphertext: 'vault:v1:AA==', associatedData: '["svc",1,"b","k","object"]' },
  ]);
});

test('foreign and unbound keys are refused before the key server is asked', async () => {
  const transit = fakeTransit();
  const item = [{ wrapped: 'vault:v1:AA==', purpose: object }];
  const foreign = dataKeys(transit).unwrap(name, { keyName: 'other', binding: 'key' }, item);
  assert.is(await reasonOf(foreign), 'foreign-key');
  const requiring = dataKeys(transit, 'key', true);
  const unbound = requiring.unwrap(name, { keyName: 'svc', binding: 'none' }, item);
  assert.is(await reasonOf(unbound), 'unbound');
  assert.is(transit.unwrapped.length, 0);
  await requiring.unwrap(name, { keyName: 'svc', binding: 'key' }, item);
});

test('keys of another length are refused and zeroed', async () => {
  const given: Buffer[] = [];
  const transit = fakeTransit(() => {
    given.push(Buffer.alloc(given.length === 0 ? 32 : 16, 7));
    return given.at(-1) as Buffer;
  });
  const items = [object, part].map((purpose) => ({ wrapped: 'vault:v1:AA==', purpose }));
  const attempt = dataKeys(transit).unwrap(name, { keyName: 'svc', binding: 'key' }, items);
  assert.is(await reasonOf(attempt), 'malformed-metadata');
  assert.ok(given.length === 2 && given.every((key) => key.every((byte) => byte === 0)));
});

test('keys whose wrapping fails are zeroed', async () => {
  let seen: Uint8Array | undefined;
  const transit: Transit = {
    ...fakeTransit(),
    wrap: async (items) => {
      seen = items[0]?.key;
      throw new Error('sealed');
    },
  };
  await dataKeys(transit)
    .create(name, [object])
    .then(
      () => assert.unreachable(),
      (error: Error) => assert.is(error.message, 'sealed'),
    );
  assert.ok(seen?.length === 32 && seen.every((byte) => byte === 0));
});

test.run();
