import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ByteSizeError, formatByteSize, parseByteSize } from '../../src/runtime/units.ts';

const sizes = suite('byte sizes');

sizes('reads whole numbers with binary units', () => {
  const expected = {
    '0': 0,
    '1': 1,
    '64KiB': 65_536,
    '16MiB': 16_777_216,
    '5GiB': 5_368_709_120,
    '1TiB': 2 ** 40,
  };
  for (const [text, bytes] of Object.entries(expected)) assert.is(parseByteSize(text), bytes);
});

sizes('refuses everything else', () => {
  const wrong = [
    '',
    ' ',
    '-1',
    '+1',
    '1.5MiB',
    '1MB',
    '1M',
    '1mib',
    '1 MiB',
    '1MiB ',
    '01',
    '0x10',
    '1e3',
    '1B',
    'MiB',
  ];
  for (const text of [...wrong, '９', '9007199254740992', '8192TiB', '1MiB\n', 'Infinity', '1_000']) {
    assert.throws(
      () => parseByteSize(text),
      (error: unknown) => error instanceof ByteSizeError,
      text,
    );
  }
});

sizes('reads back every size that it writes', () => {
  fc.assert(fc.property(fc.maxSafeNat(), (bytes) => parseByteSize(formatByteSize(bytes)) === bytes));
  assert.is(formatByteSize(16_777_216), '16MiB');
  assert.is(formatByteSize(0), '0');
  assert.is(formatByteSize(1000), '1000');
});

sizes.run();
