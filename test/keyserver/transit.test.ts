import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type KeyRequest, VaultError, type VaultResponse } from '../../src/keyserver/contract.ts';
import { createTransit } from '../../src/keyserver/transit.ts';
import { rejection, vaultFailure } from './rejection.ts';

const test = suite('transit');

interface Item {
  readonly plaintext?: string;
  readonly ciphertext?: string;
  readonly associated_data?: string;
  readonly reference?: string;
}
type Body = Item & { readonly batch_input?: Item[] };
/** The request with its body parsed, which is bytes on its way. */
type Parsed = KeyRequest & { readonly body: Body };
type TransitServer = (request: Parsed) => VaultResponse;

/** Something like transit: the ciphertext is the plaintext with its associated data. */
function echo({ path, body }: Parsed): VaultResponse {
  const { batch_input: batch, ...single } = body;
  const results = (batch ?? [single]).map((item) =>
    path.includes('/encrypt/') ? sealed(item) : opened(item),
  );
  const bad = results.find((result) => result.error !== undefined);
  if (batch !== undefined) return { status: bad ? 400 : 200, body: { data: { batch_results: results } } };
  return bad ? { status: 400, body: { errors: [bad.error] } } : { status: 200, body: { data: results[0] } };
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

const sealed = ({ plaintext, associated_data = '' }: Item): Record<string, string> => ({
  ciphertext: `vault:v3:${base64(`${plaintext}|${associated_data}`)}`,
});

function opened({ ciphertext = '', associated_data = '' }: Item): Record<string, string> {
  if (ciphertext.startsWith('vault:v1:'))
    return { error: 'ciphertext or signature version is disallowed by policy (too old)' };
  const [plaintext = '', data] = Buffer.from(ciphertext.split(':')[2] ?? '', 'base64')
    .toString()
    .split('|');
  return data === associated_data
    ? { plaintext }
    : { plaintext: '', error: 'cipher: message authentication failed' };
}

function transitOver(exchange: TransitServer = echo, now?: () => number) {
  const requests: Parsed[] = [];
  const bodies: Uint8Array[] = [];
  const client = {
    exchange: async ({ bytes, ...request }: KeyRequest): Promise<VaultResponse> => {
      assert.ok(bytes);
      bodies.push(bytes.body);
      const parsed = { ...request, body: JSON.parse(Buffer.from(bytes.body).toString()) };
      requests.push(parsed);
      const { status, body } = exchange(parsed);
      return { status, body: body && bytes.read({ status }, Buffer.from(JSON.stringify(body))) };
    },
  };
  return {
    transit: createTransit(client, { mount: 'transit', keyName: 'svc', ...(now && { now }) }),
    requests,
    bodies,
  };
}

const sizes = (requests: Parsed[]) => requests.map(({ body }) => body.batch_input?.length ?? 1);

test('one item is a plain call on the two paths of the policy', async () => {
  const { transit, requests } = transitOver();
  const key = randomBytes(32);
  const [wrapped] = await transit.wrap([{ key, associatedData: 'bucket/ä' }]);
  assert.is(wrapped?.keyVersion, 3);
  const [opened] = await transit.unwrap([
    { ciphertext: wrapped?.ciphertext ?? '', associatedData: 'bucket/ä' },
  ]);
  assert.ok(opened?.equals(key));
  assert.equal(
    requests.map(({ method, path, body }) => ({ method, path, body })),
    [
      {
        method: 'POST',
        path: 'transit/encrypt/svc',
        body: { plaintext: key.toString('base64'), associated_data: base64('bucket/ä') },
      },
      {
        method: 'POST',
        path: 'transit/decrypt/svc',
        body: { ciphertext: wrapped?.ciphertext, associated_data: base64('bucket/ä') },
      },
    ],
  );
});

test('what went to the server is zeroed, whatever came of it', async () => {
  for (const status of [200, 400, 500]) {
    const { transit, bodies } = transitOver((request) => ({ ...echo(request), status }));
    await transit.wrap([{ key: randomBytes(32) }, { key: randomBytes(32) }]).catch(() => undefined);
    assert.ok(bodies.length === 1 && bodies[0]?.every((byte) => byte === 0));
  }
});

test('keys of a batch are zeroed where one item of it is bad, and where its answer has another shape', async () => {
  for (const spoil of [{ error: 'bad' }, { plaintext: 7 }]) {
    const made: Uint8Array[] = [];
    const client = {
      exchange: async ({ bytes }: KeyRequest): Promise<VaultResponse> => {
        const results = [{ plaintext: randomBytes(32).toString('base64') }, spoil];
        const original = Buffer.from;
        Buffer.from = ((...given: Parameters<typeof original>) => {
          const buffer = original(...given);
          if (buffer.length === 32) made.push(buffer);
          return buffer;
        }) as typeof original;
        try {
          const answer = original(JSON.stringify({ data: { batch_results: results } }));
          return { status: 400, body: bytes?.read({ status: 400 }, answer) };
        } finally {
          Buffer.from = original;
        }
      },
    };
    const transit = createTransit(client, { mount: 'transit', keyName: 'svc' });
    const items = [{ ciphertext: 'vault:v1:AAAA' }, { ciphertext: 'vault:v1:AAAA' }];
    await vaultFailure(transit.unwrap(items), 'rejected');
    assert.ok(made.length === 1 && made[0]?.every((byte) => byte === 0));
  }
});

test('no items need no call', async () => {
  const { transit, requests } = transitOver();
  assert.equal(await transit.wrap([]), []);
  assert.equal(await transit.unwrap([]), []);
  assert.is(requests.length, 0);
});

test('any number of keys comes back in order, in batches of at most 160', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 650 }), async (count) => {
      const { transit, requests } = transitOver();
      const items = Array.from({ length: count }, (_, n) => ({
        key: randomBytes(32),
        associatedData: `part ${n}`,
      }));
      const wrapped = await transit.wrap(items);
      assert.ok(sizes(requests).every((size) => size <= 160));
      assert.is(requests.length, Math.ceil(count / 160));
      const back = await transit.unwrap(
        wrapped.map(({ ciphertext }, n) => ({ ciphertext, associatedData: `part ${n}` })),
      );
      assert.ok(back.length === count && items.every(({ key }, n) => back[n]?.equals(key)));
    }),
    { numRuns: 20 },
  );
});

test('halves batches that the server refuses as too large, and remembers that', async () => {
  for (const refusal of [
    {
      status: 400,
      body: { errors: ['refused JSON input due to high complexity: exceeded maximum number of strings'] },
    },
    { status: 413, body: undefined },
  ]) {
    const { transit, requests } = transitOver((request) =>
      (request.body.batch_input?.length ?? 1) > 60 ? refusal : echo(request),
    );
    const items = Array.from({ length: 250 }, () => ({ key: randomBytes(32) }));
    assert.is((await transit.wrap(items)).length, 250);
    assert.equal(sizes(requests), [160, 80, 40, 40, 40, 40, 40, 40, 10]);
  }
});

test('one such refusal makes batches smaller for a while only', async () => {
  let time = 0;
  let refusals = 1;
  const refusal: VaultResponse = { status: 413, body: undefined };
  const { transit, requests } = transitOver(
    (request) => (refusals-- > 0 ? refusal : echo(request)),
    () => time,
  );
  const sent = async () => {
    requests.length = 0;
    await transit.wrap(Array.from({ length: 320 }, () => ({ key: randomBytes(32) })));
    return sizes(requests);
  };
  assert.equal(await sent(), [160, 80, 80, 80, 80]);
  time += 29_000;
  assert.equal(await sent(), [80, 80, 80, 80]);
  time += 1_000;
  assert.equal(await sent(), [160, 160]);
});

test('a server with a smaller limit is asked for more ever more seldom', async () => {
  let time = 0;
  const { transit, requests } = transitOver(
    (request) =>
      (request.body.batch_input?.length ?? 1) > 60 ? { status: 413, body: undefined } : echo(request),
    () => time,
  );
  const keys = Array.from({ length: 64 }, () => ({ key: Buffer.alloc(32) }));
  for (; time < 24 * 3_600_000; time += 120_000) await transit.wrap(keys);
  const refused = sizes(requests).filter((size) => size > 60);
  assert.ok(refused.length > 20, `${refused.length} attempts in a day`);
  assert.ok(refused.length < 40, `${refused.length} attempts in a day`);
});

test('a single item that is too large ends', async () => {
  const { transit, requests } = transitOver(() => ({ status: 413, body: undefined }));
  await vaultFailure(transit.wrap([{ key: randomBytes(32) }]), 'rejected');
  assert.is(requests.length, 1);
});

test('names the bad item of many', async () => {
  const { transit } = transitOver();
  const wrapped = await transit.wrap(Array.from({ length: 450 }, () => ({ key: randomBytes(32) })));
  for (const bad of [0, 159, 160, 449]) {
    const items = wrapped.map(({ ciphertext }, n) =>
      n === bad ? { ciphertext, associatedData: 'x' } : { ciphertext },
    );
    const error = await vaultFailure(transit.unwrap(items), 'rejected');
    assert.is(error.index, bad);
    assert.match(
      error.message,
      new RegExp(`item ${bad} at transit/decrypt/svc: cipher: message authentication failed`),
    );
  }
});

test('names the bad item of one', async () => {
  const { transit } = transitOver();
  const [wrapped] = await transit.wrap([{ key: randomBytes(32) }]);
  const error = await vaultFailure(
    transit.unwrap([{ ciphertext: wrapped?.ciphertext ?? '', associatedData: 'x' }]),
    'rejected',
  );
  assert.is(error.index, 0);
  assert.is(error.status, 400);
});

test('zeroes the keys that it had when a later batch fails', async () => {
  const zeroed: string[] = [];
  const original = Buffer.prototype.fill;
  const { transit } = transitOver();
  const keys = Array.from({ length: 161 }, () => randomBytes(32));
  const wrapped = await transit.wrap(keys.map((key) => ({ key })));
  Buffer.prototype.fill = function (this: Buffer, ...given: Parameters<typeof original>) {
    zeroed.push(this.toString('hex'));
    return original.apply(this, given);
  } as typeof original;
  try {
    const items = wrapped.map(({ ciphertext }, n) =>
      n === 160 ? { ciphertext, associatedData: 'x' } : { ciphertext },
    );
    await vaultFailure(transit.unwrap(items), 'rejected');
  } finally {
    Buffer.prototype.fill = original;
  }
  const known = new Set(keys.map((key) => key.toString('hex')));
  assert.equal(
    zeroed.filter((value) => known.has(value)),
    keys.slice(0, 160).map((key) => key.toString('hex')),
  );
});

test('what is no wrapped key never leaves', async () => {
  const { transit, requests } = transitOver();
  const good = 'vault:v1:AAAA';
  for (const bad of ['', 'AAAA', 'vault:v0:AAAA', `${good}\n`]) {
    const error = await vaultFailure(transit.unwrap([{ ciphertext: good }, { ciphertext: bad }]), 'rejected');
    assert.is(error.index, 1);
  }
  assert.is(requests.length, 0);
});

test('a version below the permitted one is told with its number', async () => {
  const { transit } = transitOver();
  for (const items of [
    [{ ciphertext: 'vault:v1:AAAA' }],
    [{ ciphertext: 'vault:v1:AAAA' }, { ciphertext: `vault:v3:${base64('AAAA|')}` }],
  ]) {
    const error = await vaultFailure(transit.unwrap(items), 'expired-version');
    assert.match(
      error.message,
      /Version 1 of transit key svc is below its min_decryption_version \(item 0\)/,
    );
    assert.match(error.nextStep, /to 1 or less/);
    assert.is(error.index, 0);
  }
});

test('an absent key or mount is not found', async () => {
  for (const [status, text] of [
    [400, 'encryption key not found'],
    [404, 'no handler for route "transit/decrypt/svc". route entry not found.'],
  ] as const) {
    const { transit } = transitOver(() => ({ status, body: { errors: [text] } }));
    await vaultFailure(transit.unwrap([{ ciphertext: 'vault:v1:AAAA' }]), 'not-found');
    await vaultFailure(
      transit.unwrap([{ ciphertext: 'vault:v1:AAAA' }, { ciphertext: 'vault:v1:AAAA' }]),
      'not-found',
    );
  }
});

test('an answer that is none of transit is rejected', async () => {
  const answers: unknown[] = [
    undefined,
    {},
    { data: {} },
    { data: { ciphertext: 'hello', plaintext: 'no base64!' } },
  ];
  for (const body of answers) {
    const { transit } = transitOver(() => ({ status: 200, body }));
    await vaultFailure(transit.wrap([{ key: randomBytes(32) }]), 'rejected');
    await vaultFailure(transit.unwrap([{ ciphertext: 'vault:v1:AAAA' }]), 'rejected');
  }
  const short = { data: { batch_results: [{ ciphertext: 'vault:v1:AAAA', plaintext: 'AAAA' }] } };
  const { transit } = transitOver(() => ({ status: 200, body: short }));
  await vaultFailure(transit.wrap([{ key: randomBytes(32) }, { key: randomBytes(32) }]), 'rejected');
});

/** Repeats the references, and then does `meddle` to the results. */
const meddling =
  (meddle: (results: object[]) => object[]): TransitServer =>
  (request) => {
    const { status, body } = echo(request) as { status: number; body: { data: { batch_results: object[] } } };
    const references = request.body.batch_input?.map(({ reference }) => ({ reference })) ?? [];
    const results = body.data.batch_results.map((result, index) => ({ ...result, ...references[index] }));
    return { status, body: { data: { batch_results: meddle(results) } } };
  };

test('results that the server gives to other keys are not used', async () => {
  const items = Array.from({ length: 5 }, () => ({ key: randomBytes(32) }));
  const { transit: honest } = transitOver(meddling((results) => results));
  const wrapped = await honest.wrap(items);
  assert.ok((await honest.unwrap(wrapped)).every((key, n) => items[n]?.key.equals(key)));
  for (const meddle of [
    (results: object[]) => results.toReversed(),
    (results: object[]) => [...results.slice(1), results[0] as object],
    (results: object[]) => results.map(() => results[0] as object),
  ]) {
    const { transit, requests } = transitOver(meddling(meddle));
    for (const asked of [transit.wrap(items), transit.unwrap(wrapped)]) {
      const error = await vaultFailure(asked, 'unavailable');
      assert.match(error.message, /answered transit\/(en|de)crypt\/svc with the results of other items/);
      assert.match(error.nextStep, /nothing of this answer was used/);
    }
    assert.is(requests.length, 2, 'nothing is asked for again');
  }
});

test('results of another call, or too few of them, are not used', async () => {
  const items = [{ key: randomBytes(32) }, { key: randomBytes(32) }];
  let former: object[] | undefined;
  const { transit } = transitOver(
    meddling((results) => {
      former ??= results;
      return former;
    }),
  );
  await transit.wrap(items);
  await vaultFailure(transit.wrap(items), 'unavailable');
  const { transit: dropping } = transitOver(meddling((results) => results.slice(1)));
  await vaultFailure(dropping.wrap(items), 'rejected');
});

test('neither keys nor associated data stand in errors', async () => {
  const key = randomBytes(32);
  const { transit } = transitOver(() => ({ status: 500, body: { errors: ['internal error'] } }));
  const error = await rejection(transit.wrap([{ key, associatedData: 'a secret name' }]));
  assert.ok(error instanceof VaultError);
  const text = JSON.stringify(error) + error.stack + String(error.cause);
  assert.not.ok(text.includes(key.toString('base64')));
  assert.not.match(text, /secret name|c2VjcmV0/);
});

test('passes the signal on', async () => {
  const { transit, requests } = transitOver();
  const { signal } = new AbortController();
  await transit.wrap([{ key: randomBytes(32) }], signal);
  assert.is(requests[0]?.signal, signal);
});

test('a key handed over lies in memory of its own', async () => {
  const { transit } = transitOver();
  const [wrapped] = await transit.wrap([{ key: randomBytes(32) }]);
  const [key] = await transit.unwrap([{ ciphertext: wrapped?.ciphertext ?? '' }]);
  assert.is(key?.buffer.byteLength, 32);
});

test.run();
