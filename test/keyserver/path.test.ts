import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isEncodedPath, vaultPath } from '../../src/keyserver/path.ts';

const test = suite('key server path');

test('joins a mount of several segments with encoded names', () => {
  assert.is(vaultPath('/auth/kubernetes/', 'login'), 'auth/kubernetes/login');
  assert.is(vaultPath('transit', 'encrypt', 'a/b ?#&%'), 'transit/encrypt/a%2Fb%20%3F%23%26%25');
});

test('refuses what a server would resolve', () => {
  for (const segment of ['', '.', '..'])
    assert.throws(() => vaultPath('transit', 'encrypt', segment), RangeError);
  assert.throws(() => vaultPath('a//b'), RangeError);
  assert.throws(() => vaultPath('a/../sys'), RangeError);
});

test('whatever the name, the path stays below the mount and keeps its segments', () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text !== '.' && text !== '..');
  fc.assert(
    fc.property(name, (key) => {
      const path = vaultPath('transit', 'encrypt', key);
      assert.ok(isEncodedPath(path), path);
      const { pathname, search, hash } = new URL(`http://vault/v1/${path}`);
      assert.equal([pathname, search, hash], [`/v1/${path}`, '', '']);
      assert.is(decodeURIComponent(path.split('/')[2] ?? ''), key);
    }),
  );
});

test('a path that is not encoded is told apart', () => {
  for (const path of ['', '/a', 'a//b', 'a/../b', './a', 'a?b', 'a#b', 'a b', 'a%2', 'ä', 'a\r\nb']) {
    assert.is(isEncodedPath(path), false, path);
  }
  for (const path of ['a', 'a/b/', 'sys/mounts/x%20y', 'auth/token/lookup-self'])
    assert.ok(isEncodedPath(path), path);
});

test.run();
