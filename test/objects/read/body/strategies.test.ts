import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { EnvelopeError, encryptBody } from '../../../../src/objects/format/cipher.ts';
import { heldBack, openBody, type ReadTools } from '../../../../src/objects/read/body/open-body.ts';
import type { BodySlice } from '../../../../src/objects/read/body/sealed-body.ts';
import { Spool, SpoolSpace } from '../../../../src/objects/read/body/spool.ts';
import { VerifyBudget } from '../../../../src/objects/read/body/verify-budget.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import { incoming } from '../support/incoming.ts';

const test = suite('strategies of reading a body');
const MiB = 1024 * 1024;
let folder: TemporaryFolder;
const { signal } = new AbortController();

test.before(() => {
  folder = temporaryFolder('strategies');
});
test.after(() => folder.remove());

function tools(verifyBuffer: number, strict = false): ReadTools {
  const spool = new Spool({ folder: folder.path, space: new SpoolSpace(64 * MiB) });
  return {
    config: { verifyBuffer, strict },
    budget: new VerifyBudget(8 * MiB),
    spool,
  };
}

function seal(dek: Buffer, plaintext: Buffer): Buffer {
  const cipher = encryptBody(dek);
  return Buffer.concat([cipher.nonce, cipher.update(plaintext), cipher.finish()]);
}

interface Read {
  readonly given: Buffer;
  readonly failure: unknown;
  readonly key: Buffer;
}

async function read(
  chosen: ReadTools,
  stored: Buffer,
  size: number,
  dek: Buffer,
  slice: BodySlice,
): Promise<Read> {
  const { message, stop } = await incoming((response) => response.end(stored));
  const reader = message;
  const key = Buffer.from(dek);
  const given: Buffer[] = [];
  const request = { reader, body: { size, nonce: undefined }, slice, takeKey: async () => key };
  let failure: unknown;
  try {
    for await (const chunk of openBody(chosen, request, { signal })) given.push(Buffer.from(chunk));
  } catch (error) {
    failure = error;
  } finally {
    reader.close();
    stop();
  }
  return { given: Buffer.concat(given), failure, key };
}

const strategies: [string, () => ReadTools][] = [
  ['memory', () => tools(4 * MiB)],
  ['stream', () => tools(0)],
  ['disk', () => tools(0, true)],
];

for (const [label, make] of strategies)
  test(`${label}: any slice is given, and the key and all room given back`, async () => {
    const plaintext = randomBytes(1_500_000);
    const dek = randomBytes(32);
    const stored = seal(dek, plaintext);
    const chosen = make();
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: plaintext.length }), fc.nat({ max: plaintext.length }), async (a, b) => {
        const slice = { skip: Math.min(a, b), take: Math.abs(a - b) };
        const { given, failure, key } = await read(chosen, stored, plaintext.length, dek, slice);
        assert.is(failure, undefined);
        assert.ok(given.equals(plaintext.subarray(slice.skip, slice.skip + slice.take)));
        assert.ok(key.every((byte) => byte === 0));
      }),
      { numRuns: 20 },
    );
    assert.equal([chosen.budget.used, chosen.spool.used], [0, 0]);
  });

for (const [label, make] of strategies)
  test(`${label}: a changed body gives no whole slice, and memory and disk nothing at all`, async () => {
    const plaintext = randomBytes(300_000);
    const dek = randomBytes(32);
    const good = seal(dek, plaintext);
    for (const at of [0, 12, 150_000, good.length - 17, good.length - 1]) {
      const stored = Buffer.from(good);
      stored.writeUInt8(stored.readUInt8(at) ^ 0x80, at);
      for (const slice of [
        { skip: 0, take: 300_000 },
        { skip: 5, take: 10 },
        { skip: 10, take: 200_000 },
      ]) {
        const chosen = make();
        const { given, failure } = await read(chosen, stored, plaintext.length, dek, slice);
        assert.ok(
          failure instanceof EnvelopeError && failure.reason === 'authentication-failed',
          `${label} ${at}`,
        );
        const most = label === 'stream' ? Math.max(0, slice.take - heldBack) : 0;
        assert.ok(given.length <= most, `${given.length} of ${slice.take} bytes were given`);
        assert.equal([chosen.budget.used, chosen.spool.used], [0, 0]);
      }
    }
  });

for (const [label, make] of strategies)
  test(`${label}: a body cut anywhere is refused`, async () => {
    const dek = randomBytes(32);
    const stored = seal(dek, randomBytes(1000));
    for (const length of [0, 11, 12, 500, 1012, stored.length - 1]) {
      const { failure, given } = await read(make(), stored.subarray(0, length), 1000, dek, {
        skip: 0,
        take: 1000,
      });
      assert.ok(failure instanceof EnvelopeError && failure.reason === 'wrong-size', `${label} ${length}`);
      assert.is(given.length, 0);
    }
  });

test('without memory a small body goes through the disk', async () => {
  const chosen = tools(4 * MiB);
  const hold = await chosen.budget.acquire({ bytes: 8 * MiB, signal });
  const plaintext = randomBytes(100_000);
  const dek = randomBytes(32);
  const slice = { skip: 0, take: plaintext.length };
  const { given, failure } = await read(chosen, seal(dek, plaintext), plaintext.length, dek, slice);
  assert.is(failure, undefined);
  assert.ok(given.equals(plaintext));
  hold?.releaseAll();
  assert.equal([chosen.budget.used, chosen.spool.used], [0, 0]);
});

test('who stops reading gives everything back', async () => {
  for (const [label, make] of strategies) {
    const chosen = make();
    const plaintext = randomBytes(MiB);
    const dek = randomBytes(32);
    const { message, stop } = await incoming((response) => response.end(seal(dek, plaintext)));
    const reader = message;
    const body = { size: plaintext.length, nonce: undefined };
    const slice = { skip: 0, take: plaintext.length };
    for await (const _ of openBody(chosen, { reader, body, slice, takeKey: async () => dek }, { signal }))
      break;
    reader.close();
    stop();
    assert.equal([label, chosen.budget.used, chosen.spool.used], [label, 0, 0]);
  }
});

test.run();
