import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { folderBeside, pathParts, secondName } from '../../../../src/plugins/bulk/decrypt/file-name.ts';

const test = suite('file names for keys');

const path = (key: string) => pathParts(key).join('/');

test('ordinary keys stay as they are', () => {
  for (const key of ['a', 'a/b.txt', 'Zürich/日本 +&?=é', '...', '.hidden', 'a\\b', 'CON'])
    assert.is(path(key), key);
});

test('what a path would take for something else is encoded', () => {
  assert.is(path('../../etc/passwd'), '%2E%2E/%2E%2E/etc/passwd');
  assert.is(path('/etc/passwd'), '%2F/etc/passwd');
  assert.is(path('a//b/./'), 'a/%2F/b/%2E/%2F');
  assert.is(path('a\0b\nc\u007fd\u0085e%2E'), 'a%00b%0Ac%7Fd%C2%85e%252E');
  assert.is(path('%svc-decrypt/lock'), '%25svc-decrypt/lock');
});

test('a part that is too long for a file is cut at a whole character and ends in its hash', () => {
  for (const part of [
    'n'.repeat(256),
    'ä'.repeat(200),
    '\0'.repeat(300),
    `${'x'.repeat(159)}ä${'y'.repeat(200)}`,
  ]) {
    const [name = ''] = pathParts(part);
    assert.match(name, /^.+%7E[0-9a-f]{64}$/s);
    assert.ok(Buffer.byteLength(name) <= 255, name);
    assert.is(Buffer.from(name).toString(), name);
    assert.not.match(name.slice(0, -67), /%[0-9A-F]?$/);
  }
  assert.is(path('n'.repeat(255)), 'n'.repeat(255));
});

const hostile = fc.array(
  fc.oneof(
    fc.constantFrom('/', '.', '..', '%', '%2F', '%2E', '%7E', '\0', '~', 'a', 'A', '', 'x'.repeat(300)),
    fc.string({ unit: 'grapheme', maxLength: 3 }),
  ),
  { maxLength: 6 },
);

test('no two keys have one path, and none leads out or to a name of our own', () => {
  fc.assert(
    fc.property(hostile, hostile, (one, other) => {
      const [left, right] = [one.join(''), other.join('')];
      if (left !== right) assert.is.not(path(left), path(right));
      for (const part of pathParts(left)) {
        assert.ok(
          part !== '' && part !== '.' && part !== '..' && !part.includes('/') && !part.includes('\0'),
        );
        assert.not.match(part, /^%(?![0-9A-F]{2})/);
        assert.ok(Buffer.byteLength(part) <= 255);
        for (const further of [secondName(part, left), folderBeside(part)]) {
          assert.ok(Buffer.byteLength(further) <= 255);
          assert.is.not(further, part);
        }
      }
    }),
    { numRuns: 2_000 },
  );
});

test.run();
