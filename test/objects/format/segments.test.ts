import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  BodyKeys,
  freshSalt,
  isDerivationText,
  partChecksumKeyOf,
  sealKeyOf,
} from '../../../src/objects/format/body-keys.ts';
import {
  coveringSegments,
  maxSegmentedPlaintext,
  openSegments,
  plaintextOfSegments,
  SegmentedEncryption,
  Segments,
  segmentBytes,
  segmentedSize,
  UnsizedEncryption,
} from '../../../src/objects/format/segments.ts';
import { faultOf } from './fault.ts';
import { sealSegments } from './seal-segments.ts';
import { derived, oracleBody } from './segment-oracle.ts';

const test = suite('segments of format 2');

/** Lengths near the ends of segments, where errors are. */
const lengths = fc
  .tuple(fc.nat({ max: 3 }), fc.integer({ min: -2, max: 2 }), fc.nat({ max: 65_535 }), fc.boolean())
  .map(([whole, near, odd, atEdge]) => Math.max(0, whole * segmentBytes + (atEdge ? near : odd)));
const body = fc.record({ length: lengths, part: fc.constantFrom(0, 1, 2, 255, 256, 10_000) });
const stored = segmentBytes + 16;

function written(length: number, part: number) {
  const dek = randomBytes(32);
  const keys = new BodyKeys(dek, freshSalt(), part);
  const plaintext = randomBytes(length);
  return { dek, keys, plaintext, sealed: sealSegments(keys, plaintext) };
}

test('bodies and commitments are those of the oracle', () => {
  fc.assert(
    fc.property(body, ({ length, part }) => {
      const { dek, keys, plaintext, sealed } = written(length, part);
      const oracle = oracleBody(dek, keys.salt, part, plaintext);
      assert.ok(sealed.equals(oracle.stored));
      assert.is(keys.commitment(length), oracle.commitment);
      assert.ok(openSegments(keys, oracle.stored).equals(plaintext));
      assert.ok(keys.proves(oracle.commitment, length));
    }),
    { numRuns: 60 },
  );
});

test('keys of uploads are those of the oracle, and differ', () => {
  const [dek, id] = [randomBytes(32), 'oJR9fYq6kCvMT0QGfpLspg'];
  const [seal, sums] = [sealKeyOf(dek, id), partChecksumKeyOf(dek, id)];
  assert.equal(seal, derived(dek, Buffer.from(id), 'svc/2/seal\n'));
  assert.equal(sums, derived(dek, Buffer.from(id), 'svc/2/part-checksums\n'));
  const all = [seal, sums, sealKeyOf(dek, 'x'.repeat(22)), new BodyKeys(dek, freshSalt(), 0).key, dek];
  assert.is(new Set(all.map((key) => key.toString('hex'))).size, all.length);
});

test('however a plaintext comes, of known length or not, the body is the same', () => {
  fc.assert(
    fc.property(body, fc.array(fc.integer({ min: 1, max: 90_000 })), ({ length, part }, cuts) => {
      const { keys, plaintext, sealed } = written(length, part);
      for (const encryption of [new SegmentedEncryption(keys, length), new UnsizedEncryption(keys)]) {
        const pieces: Buffer[] = [];
        let at = 0;
        for (const cut of [...cuts, length + 1]) {
          for (const piece of encryption.pieces(plaintext.subarray(at, at + cut)))
            pieces.push(Buffer.from(piece));
          at += cut;
        }
        pieces.push(encryption.finish());
        assert.ok(Buffer.concat(pieces).equals(sealed));
      }
    }),
    { numRuns: 60 },
  );
});

test('a body of another length than announced is none', () => {
  const { keys } = written(0, 0);
  const encryption = new SegmentedEncryption(keys, segmentBytes);
  assert.throws(() => [...encryption.pieces(Buffer.alloc(segmentBytes + 1))], RangeError);
  assert.throws(() => encryption.finish(), RangeError);
  encryption.discard();
});

test('sizes follow from sizes', () => {
  for (const [size, expected] of [
    [0, 0],
    [1, 17],
    [segmentBytes - 1, segmentBytes + 15],
    [segmentBytes, stored],
    [segmentBytes + 1, stored + 17],
    [10 * segmentBytes, 10 * stored],
  ] as const)
    assert.is(segmentedSize(size), expected);
  fc.assert(
    fc.property(fc.maxSafeNat(), (raw) => {
      const size = raw % 2 ** 50;
      assert.is(plaintextOfSegments(segmentedSize(size)), size);
    }),
  );
  for (let extra = 1; extra <= 16; extra++)
    for (const whole of [0, 1, 7]) assert.is(plaintextOfSegments(whole * stored + extra), undefined);
  assert.ok(segmentedSize(maxSegmentedPlaintext) <= 5 * 1024 ** 3);
  assert.ok(segmentedSize(maxSegmentedPlaintext + 1) > 5 * 1024 ** 3);
});

test('the segments that cover a slice are all that it needs, and no more', () => {
  const slice = fc.record({ length: lengths, from: fc.nat(), span: fc.nat() });
  fc.assert(
    fc.property(slice, ({ length, from, span }) => {
      const { keys, plaintext, sealed } = written(length, 3);
      const skip = length === 0 ? 0 : from % length;
      const take = length === 0 ? 0 : span % (length - skip + 1);
      const { first, end, from: begin, to } = coveringSegments(length, skip, take);
      const covering = sealed.subarray(begin, to);
      const segments = new Segments(keys);
      const opened: Buffer[] = [];
      for (let index = first; index < end; index++) {
        const at = (index - first) * stored;
        const isLast = (index + 1) * segmentBytes >= length;
        opened.push(segments.open(index, isLast, covering.subarray(at, at + stored)));
      }
      const got = Buffer.concat(opened)
        .subarray(skip - first * segmentBytes)
        .subarray(0, take);
      assert.ok(got.equals(plaintext.subarray(skip, skip + take)));
      const least = take === 0 ? 0 : Math.floor((skip + take - 1) / segmentBytes) - first + 1;
      assert.is(end - first, least);
    }),
    { numRuns: 60 },
  );
});

const refused = (keys: BodyKeys, forged: Buffer) => faultOf(() => openSegments(keys, forged));

test('at every border of segments: cut, repeated, reordered, without or with a false last one', () => {
  const { keys, sealed } = written(4 * segmentBytes + 100, 0);
  const at = (index: number) => sealed.subarray(index * stored, (index + 1) * stored);
  const all = [0, 1, 2, 3, 4].map(at);
  for (let border = 1; border < all.length; border++) {
    assert.is(refused(keys, Buffer.concat(all.slice(0, border))), 'authentication-failed', `cut ${border}`);
    const [before, behind] = [all[border - 1] as Buffer, all[border] as Buffer];
    const swapped = all.with(border - 1, behind).with(border, before);
    assert.is.not(refused(keys, Buffer.concat(swapped)), 'none', `reordered ${border}`);
    const repeated = [...all.slice(0, border), before, ...all.slice(border)];
    assert.is(refused(keys, Buffer.concat(repeated)), 'authentication-failed', `repeated ${border}`);
    const dropped = all.filter((_, index) => index !== border - 1);
    assert.is(refused(keys, Buffer.concat(dropped)), 'authentication-failed', `dropped ${border}`);
  }
  const begun = written(2 * segmentBytes, 0);
  assert.is(refused(begun.keys, begun.sealed.subarray(0, stored)), 'authentication-failed', 'no last flag');
  const longer = Buffer.concat([begun.sealed, begun.sealed.subarray(0, stored)]);
  assert.is(refused(begun.keys, longer), 'authentication-failed', 'the last one is not the last');
});

test('each bit of a body counts, of its tags too', () => {
  const { keys, sealed } = written(2 * segmentBytes + 3, 1);
  for (const place of [0, 77, segmentBytes, stored - 1, stored, 2 * stored - 16, 2 * stored + 2, -1]) {
    const forged = Buffer.from(sealed);
    const index = place < 0 ? forged.length + place : place;
    forged[index] = (forged[index] as number) ^ 1;
    assert.is(refused(keys, forged), 'authentication-failed', String(place));
  }
});

test('a body under another salt, part number or DEK is refused', () => {
  const { dek, keys, sealed } = written(segmentBytes + 9, 2);
  for (const other of [
    new BodyKeys(dek, freshSalt(), 2),
    new BodyKeys(dek, keys.salt, 1),
    new BodyKeys(dek, keys.salt, 0),
    new BodyKeys(randomBytes(32), keys.salt, 2),
  ])
    assert.is(refused(other, sealed), 'authentication-failed');
  const sameKey = { key: keys.key, part: 3 };
  assert.is(
    faultOf(() => openSegments(sameKey, sealed)),
    'authentication-failed',
    'the number is associated data too',
  );
});

test('a commitment proves DEK, salt, part number and size', () => {
  const { dek, keys } = written(10, 1);
  const commitment = keys.commitment(10);
  keys.verify(commitment, 10);
  const changed = `${commitment[0] === 'A' ? 'B' : 'A'}${commitment.slice(1)}`;
  for (const [other, text, size] of [
    [keys, commitment, 11],
    [keys, changed, 10],
    [keys, '', 10],
    [new BodyKeys(dek, keys.salt, 2), commitment, 10],
    [new BodyKeys(dek, freshSalt(), 1), commitment, 10],
    [new BodyKeys(randomBytes(32), keys.salt, 1), commitment, 10],
  ] as const)
    assert.is(
      faultOf(() => other.verify(text, size)),
      'wrong-commitment',
    );
});

test('one text for each salt', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) =>
      isDerivationText(Buffer.from(bytes).toString('base64url')),
    ),
  );
  const text = freshSalt();
  for (const wrong of [
    `${text}A`,
    text.slice(1),
    `${text.slice(0, -1)}B`,
    `${text.slice(0, -1)}=`,
    undefined,
    7,
  ])
    assert.not.ok(isDerivationText(wrong), String(wrong));
});

test('wiped keys are zero', () => {
  const { keys } = written(1, 0);
  const { key } = keys;
  assert.ok(key.some((byte) => byte !== 0));
  keys.wipe();
  assert.ok(key.every((byte) => byte === 0));
});

test.run();
