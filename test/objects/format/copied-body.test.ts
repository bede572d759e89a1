import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  BodyKeys,
  freshSalt,
  isDerivationText,
  isSaltOfPart,
} from '../../../src/objects/format/body-keys.ts';
import { type CopiedBody, copiedBodyText, readCopiedBody } from '../../../src/objects/format/copied-body.ts';
import {
  type PartRecord,
  partRecordKey,
  readPartRecord,
  uploadPrefix,
} from '../../../src/objects/format/records.ts';
import { openSegments, segmentBytes } from '../../../src/objects/format/segments.ts';
import { faultOf } from './fault.ts';
import { sealSegments } from './seal-segments.ts';

const test = suite('parts that were copied as they are stored');

const stored = segmentBytes + 16;
const number = fc.constantFrom(1, 2, 255, 256, 10_000);

interface Written {
  readonly keys: BodyKeys;
  readonly plaintext: Buffer;
  readonly body: Buffer;
}

function written(size: number, part: number): Written {
  const keys = new BodyKeys(randomBytes(32), freshSalt(), part);
  const plaintext = randomBytes(size);
  return { keys, plaintext, body: sealSegments(keys, plaintext) };
}

/** Segments from `first` to before `end` of four, the last of which is short. */
const range = fc
  .tuple(fc.nat({ max: 3 }), fc.integer({ min: 1, max: 4 }))
  .filter(([first, end]) => first < end)
  .map(([first, end]) => ({ first, end, ends: end === 4 }));

const four = 3 * segmentBytes + 77;

const between = ({ body, plaintext }: Written, first: number, end: number) => ({
  body: body.subarray(first * stored, end * stored),
  plaintext: plaintext.subarray(first * segmentBytes, end * segmentBytes),
});

test('any segments open in another upload, and in a third one that copies from it', () => {
  const source = written(four, 9);
  fc.assert(
    fc.property(range, number, number, ({ first, end, ends }, n, again) => {
      const dek = randomBytes(32);
      const copied = between(source, first, end);
      const salt = source.keys.copiedTo(dek, n, { first, ends });
      const keys = new BodyKeys(dek, salt, n);
      assert.ok(openSegments(keys, copied.body).equals(copied.plaintext));
      const third = randomBytes(32);
      const rest = between(source, first + 1, end);
      if (rest.body.length === 0) return;
      const more = new BodyKeys(third, keys.copiedTo(third, again, { first: 1, ends: true }), again);
      assert.ok(openSegments(more, rest.body).equals(rest.plaintext));
    }),
    { numRuns: 40 },
  );
});

/** Each field of an entry, changed. */
const changes: readonly ((body: CopiedBody) => CopiedBody)[] = [
  (body) => ({ ...body, salt: freshSalt() }),
  (body) => ({ ...body, part: body.part + 1 }),
  (body) => ({ ...body, first: body.first + 1 }),
  (body) => ({ ...body, ends: !body.ends }),
  (body) => {
    const sealed = Buffer.from(body.sealed, 'base64url');
    sealed.writeUInt8(sealed.readUInt8(7) ^ 1, 7);
    return { ...body, sealed: sealed.toString('base64url') };
  },
];

test('what another part, another upload or a change of any field makes of it does not open', () => {
  const source = written(four, 0);
  const dek = randomBytes(32);
  const salt = source.keys.copiedTo(dek, 5, { first: 1, ends: false });
  const opening = (key: Buffer, text: string, n: number) => () => new BodyKeys(key, text, n).key;
  assert.is(opening(dek, salt, 5)().length, 32);
  assert.is(faultOf(opening(dek, salt, 6)), 'authentication-failed');
  assert.is(faultOf(opening(randomBytes(32), salt, 5)), 'authentication-failed');
  for (const change of changes) {
    const changed = copiedBodyText(change(readCopiedBody(salt) as CopiedBody));
    assert.is(faultOf(opening(dek, changed, 5)), 'authentication-failed', changed);
  }
});

test('the same copy has the same entry, and any other another salt', () => {
  const { keys } = written(four, 3);
  const dek = randomBytes(32);
  const place = { first: 1, ends: true };
  const salt = keys.copiedTo(dek, 5, place);
  assert.is(keys.copiedTo(dek, 5, place), salt);
  const others = [
    keys.copiedTo(randomBytes(32), 5, place),
    keys.copiedTo(dek, 6, place),
    keys.copiedTo(dek, 5, { first: 2, ends: true }),
    keys.copiedTo(dek, 5, { first: 1, ends: false }),
    written(four, 3).keys.copiedTo(dek, 5, place),
  ];
  const salts = [salt, ...others].map((text) => text.split('.')[0]);
  assert.is(new Set(salts).size, salts.length);
});

test('the commitment of a record covers number, size and each field', () => {
  const { keys } = written(four, 3);
  const dek = randomBytes(32);
  const salt = keys.copiedTo(dek, 5, { first: 0, ends: true });
  const commitment = new BodyKeys(dek, salt, 5).commitment(four);
  assert.ok(new BodyKeys(dek, salt, 5).proves(commitment, four));
  assert.not.ok(new BodyKeys(dek, salt, 5).proves(commitment, four - 1));
  assert.not.ok(new BodyKeys(dek, salt, 6).proves(commitment, four));
  assert.not.ok(new BodyKeys(randomBytes(32), salt, 5).proves(commitment, four));
  assert.not.ok(new BodyKeys(dek, salt.slice(0, 43), 5).proves(commitment, four));
  for (const change of changes) {
    const changed = copiedBodyText(change(readCopiedBody(salt) as CopiedBody));
    assert.not.ok(new BodyKeys(dek, changed, 5).proves(commitment, four), changed);
  }
});

test('one value has one text, and records keep it', () => {
  const { keys } = written(1, 10_000);
  const salt = keys.copiedTo(randomBytes(32), 5, { first: 81_900, ends: true });
  assert.is(copiedBodyText(readCopiedBody(salt) as CopiedBody), salt);
  assert.equal([salt, freshSalt()].map(isSaltOfPart), [true, true]);
  assert.equal([salt, freshSalt()].map(isDerivationText), [false, true]);
  for (const other of [`${salt}A`, salt.slice(1), salt.replace('.10000.', '.010000.'), `${salt}\n`, 7, null])
    assert.not.ok(isSaltOfPart(other), String(other));
  const commitment = freshSalt();
  const record: PartRecord = {
    part: { n: 5, salt, size: 1 },
    commitment,
    etag: 'e'.repeat(32),
    checksum: 'AAAAAA==',
  };
  const key = partRecordKey('.svc/', 'upload', record);
  assert.equal(readPartRecord(uploadPrefix('.svc/', 'upload'), key), record);
  for (const component of key.split('/')) assert.ok(component.length <= 255);
});

test.run();
