import fc from 'fast-check';
import protobuf from 'protobufjs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  bool,
  bytes,
  embedded,
  message,
  ProtobufError,
  type ProtobufFields,
  presentBool,
  presentUnsigned,
  readFields,
  string,
  unsigned,
} from '../../../src/runtime/protocols/protobuf.ts';

const SCHEMA = `syntax = "proto3";
message Sample {
  uint64 count = 1;
  optional uint64 limit = 2;
  bool flag = 3;
  optional bool choice = 4;
  string text = 15;
  bytes raw = 16;
  Sample child = 2000;
  uint32 small = 536870911;
}
message Unknown { fixed64 eight = 3; fixed32 four = 4; repeated uint32 numbers = 5; string text = 15; }`;
const root = protobuf.parse(SCHEMA).root;
const Sample = root.lookupType('Sample');
const Unknown = root.lookupType('Unknown');

interface Value {
  readonly count: bigint;
  readonly limit?: bigint | undefined;
  readonly flag: boolean;
  readonly choice?: boolean | undefined;
  readonly text: string;
  readonly raw: Uint8Array;
  readonly child?: Value | undefined;
  readonly small: number;
}

const uint64 = fc.oneof(
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.integer({ min: 0, max: 300 }).map(BigInt),
);
const plain = {
  count: uint64,
  limit: fc.option(uint64, { nil: undefined }),
  flag: fc.boolean(),
  choice: fc.option(fc.boolean(), { nil: undefined }),
  text: fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
  raw: fc.uint8Array({ maxLength: 300 }),
  small: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
};
const value: fc.Arbitrary<Value> = fc.record({
  ...plain,
  child: fc.option(fc.record(plain), { nil: undefined }),
});

function write(one: Value): Uint8Array {
  return message(
    unsigned(1, one.count),
    presentUnsigned(2, one.limit),
    bool(3, one.flag),
    presentBool(4, one.choice),
    string(15, one.text),
    bytes(16, one.raw),
    embedded(2000, one.child && write(one.child)),
    unsigned(536_870_911, one.small),
  );
}

/** protobufjs's own object, 64-bit numbers as their text. */
function theirs(one: Value): Record<string, unknown> {
  const optional = {
    ...(one.limit === undefined ? {} : { limit: String(one.limit) }),
    ...(one.choice === undefined ? {} : { choice: one.choice }),
    ...(one.child === undefined ? {} : { child: theirs(one.child) }),
  };
  const { flag, text, small } = one;
  return { count: String(one.count), flag, text, raw: Buffer.from(one.raw), small, ...optional };
}

function assertReads(fields: ProtobufFields, one: Value): void {
  assert.is(fields.unsigned(1), one.count);
  assert.is(fields.unsigned(2), one.limit ?? 0n);
  assert.is(fields.bool(3), one.flag);
  assert.is(fields.bool(4), one.choice ?? false);
  assert.is(fields.string(15), one.text);
  assert.equal([...fields.bytes(16)], [...one.raw]);
  assert.is(fields.unsigned32(536_870_911), one.small);
  if (one.child) assertReads(readFields(fields.bytes(2000)), one.child);
}

const isProtobufError = (error: Error) => error instanceof ProtobufError;
const fields = suite('protobuf fields');

fields('another implementation reads what is written, presence included', () => {
  fc.assert(
    fc.property(value, (one) => {
      const plainForm = { longs: String, bytes: String, defaults: true };
      const expected = Sample.fromObject(theirs(one));
      assert.equal(
        Sample.toObject(Sample.decode(write(one)), plainForm),
        Sample.toObject(expected, plainForm),
      );
    }),
  );
});

fields('defaults are left out, so that nothing is written for nothing', () => {
  const empty = { count: 0n, flag: false, text: '', raw: new Uint8Array(0), small: 0 };
  assert.is(write(empty).length, 0);
  assert.is(write({ ...empty, limit: 0n, choice: false }).length, 4);
});

fields('reads what another implementation writes', () => {
  fc.assert(
    fc.property(value, (one) => {
      assertReads(readFields(Sample.encode(Sample.fromObject(theirs(one))).finish()), one);
    }),
  );
});

fields('passes over fields of other types', () => {
  const written = Unknown.encode({ eight: 7, four: 9, numbers: [1, 2, 300], text: 'kept' }).finish();
  assert.is(readFields(written).string(15), 'kept');
});

fields('the last of several wins', () => {
  assert.is(readFields(message(unsigned(1, 5), unsigned(1, 6))).unsigned(1), 6n);
});

fields('a cut message is refused or is a shorter message, never read beyond its end', () => {
  fc.assert(
    fc.property(value, fc.nat(), (one, at) => {
      const whole = write(one);
      const cut = whole.subarray(0, whole.length === 0 ? 0 : at % whole.length);
      try {
        readFields(cut);
      } catch (error) {
        assert.ok(isProtobufError(error as Error));
      }
    }),
  );
});

fields('any bytes are read or refused', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (any) => {
      try {
        readFields(any).string(1);
      } catch (error) {
        assert.ok(isProtobufError(error as Error));
      }
    }),
  );
});

for (const [name, hex] of [
  ['a number that is cut', '0880'],
  ['a number of eleven bytes', `08${'80'.repeat(10)}01`],
  ['a field that is cut', '0a05aa'],
  ['a field that is cut after another one', '08010a03aa'],
  ['a field whose length is beyond all', '0affffffffffffffffff01'],
  ['field number 0', '0001'],
  ['a group', '0b0c'],
  ['a field number beyond 29 bits', '88808080807f00'],
] as const) {
  fields(`refuses ${name}`, () => {
    assert.throws(() => readFields(Buffer.from(hex, 'hex')), isProtobufError);
  });
}

fields('refuses text that is not UTF-8, without quoting it', () => {
  const read = readFields(Buffer.from('0a02c328', 'hex'));
  assert.throws(
    () => read.string(1),
    (error: Error) => isProtobufError(error) && !error.message.includes('('),
  );
});

fields('refuses to write a number that does not fit', () => {
  assert.throws(() => unsigned(1, -1), RangeError);
  assert.throws(() => unsigned(1, 2n ** 64n), RangeError);
});

fields.run();
