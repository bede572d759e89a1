import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  boolean,
  byteSize,
  duration,
  enumeration,
  integer,
  list,
  matching,
  type Parser,
  path,
  SettingMistake,
  text,
} from '../../../src/runtime/settings/setting.ts';

const parsers = suite('parsers of settings');

parsers('a boolean is true or false and nothing else', () => {
  assert.is(boolean().parse('true'), true);
  assert.is(boolean().parse('false'), false);
  refuses(boolean(), ['', 'True', 'FALSE', '0', '1', 'yes', 'no', ' true', 'on']);
});

parsers('an integer stays in its range', () => {
  fc.assert(
    fc.property(fc.integer({ min: -500, max: 500 }), (value) => {
      const inside = value >= -10 && value <= 100;
      if (inside) assert.is(integer(-10, 100).parse(String(value)), value);
      else refuses(integer(-10, 100), [String(value)]);
    }),
  );
  refuses(integer(0, 100), ['', ' 1', '1.0', '1e1', '0x1', '01', '+1', '--1', '९', '99999999999999999999']);
});

parsers('an enumeration admits its words only', () => {
  assert.is(enumeration('restart', 'sighup', 'none').parse('none'), 'none');
  refuses(enumeration('restart', 'sighup', 'none'), ['', 'None', 'toString', 'restart,none']);
  assert.is(enumeration('a', 'b', 'c').expects, 'one of a, b, c');
});

parsers('a duration is in milliseconds and within bounds', () => {
  assert.is(duration().parse('1m30s'), 90_000);
  assert.is(duration().parse('0'), 0);
  refuses(duration(), ['5', '-1s', '1d', '', '597h']);
  refuses(duration(1000, 60_000), ['999ms', '1m1s', '0']);
  assert.is(duration(1000, 60_000).expects, 'a duration such as 30s, 5m or 1h30m, from 1s to 1m0s');
  assert.is(duration(1000).expects, 'a duration such as 30s, 5m or 1h30m, from 1s');
});

parsers('a size is in bytes and within bounds', () => {
  assert.is(byteSize().parse('64KiB'), 65_536);
  refuses(byteSize(1024, 2048), ['1023', '2049', '1MB', '']);
  assert.is(
    byteSize(1024, 2048).expects,
    'a size such as 64KiB, 16MiB or a number of bytes, from 1KiB to 2KiB',
  );
  assert.not.match(byteSize().expects, 'from');
});

parsers('a list drops blanks around its items and refuses empty ones', () => {
  assert.equal(list(integer(0, 9)).parse('1, 2,3'), [1, 2, 3]);
  refuses(list(text()), ['', 'a,', ',a', 'a,,b']);
});

parsers('a text or path is neither empty nor has a NUL', () => {
  assert.is(text().parse(' a b '), ' a b ');
  refuses(text(), ['', 'a\0b']);
  refuses(path(), ['', '/tmp/\0']);
  refuses(matching(/^[a-z]+$/, 'lower-case letters'), ['A', '']);
});

function refuses(parser: Parser<unknown>, texts: readonly string[]): void {
  for (const given of texts) {
    assert.throws(() => parser.parse(given), isMistake, `${JSON.stringify(given)} must be refused`);
  }
}

function isMistake(error: unknown): boolean {
  return error instanceof SettingMistake;
}

parsers.run();
