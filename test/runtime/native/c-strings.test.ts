import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { SvcError } from '../../../src/runtime/errors.ts';
import { type CString, stringsLength, writeStrings } from '../../../src/runtime/native/spawn.ts';

const base = 0x7f00_0000_1000n;

/** What a C program sees behind such an array of pointers. */
function readBack(memory: Buffer): Buffer[] {
  const strings: Buffer[] = [];
  for (let index = 0; ; index++) {
    const pointer = memory.readBigUInt64LE(index * 8);
    if (pointer === 0n) return strings;
    const from = Number(pointer - base);
    strings.push(memory.subarray(from, memory.indexOf(0, from)));
  }
}

function written(strings: readonly CString[]): Buffer {
  const memory = Buffer.alloc(stringsLength(strings), 0xff);
  writeStrings(memory, base, strings);
  return memory;
}

const withoutNul = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
  fc.uint8Array().map((bytes) => bytes.map((byte) => byte || 1)),
);

const cStrings = suite('strings for C');

cStrings('come back as they were, text as UTF-8 and bytes as they are', () => {
  fc.assert(
    fc.property(fc.array(withoutNul), (strings) => {
      const memory = written(strings);
      assert.is(memory.length % 8, 0);
      assert.equal(
        readBack(memory).map((string) => string.toString('latin1')),
        strings.map((string) => Buffer.from(string as string).toString('latin1')),
      );
    }),
  );
});

cStrings('none at all is one NULL', () => {
  assert.equal(written([]), Buffer.alloc(8));
});

cStrings('a NUL is refused by position, and nothing of the string is told', () => {
  for (const string of ['hush\0hush', Buffer.from('hush\0hush')]) {
    try {
      written(['fine', string]);
      assert.unreachable();
    } catch (error) {
      assert.instance(error, SvcError);
      const { code, exitStatus, message, nextStep } = error as SvcError;
      assert.equal([code, exitStatus], ['NUL_IN_STRING', 78]);
      assert.match(message, 'number 2');
      assert.not.match(message + nextStep, 'hush');
    }
  }
});

cStrings.run();
