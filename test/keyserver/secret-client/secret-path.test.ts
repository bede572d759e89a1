import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { VaultError } from '../../../src/keyserver/contract.ts';
import { guessedPlaces, placeIn, segmentsOf } from '../../../src/keyserver/secret-client/kv.ts';

const paths = suite('paths of secrets');

const placed = (path: string, mount: string, version: 1 | 2) =>
  placeIn(mount.split('/'), version, segmentsOf(path)).apiPath;

paths('every form of a path in version 2', () => {
  for (const path of [
    'secret/app',
    '/secret/app/',
    'secret/data/app',
    'v1/secret/app',
    '/v1/secret/data/app/',
  ]) {
    assert.is(placed(path, 'secret', 2), 'secret/data/app', path);
  }
  assert.is(placed('secret/data', 'secret', 2), 'secret/data/data');
  assert.is(placed('secret/data/data/app', 'secret', 2), 'secret/data/data/app');
  assert.is(placed('team/kv/a/b', 'team/kv', 2), 'team/kv/data/a/b');
});

paths('version 1 takes names as they are', () => {
  assert.is(placed('secret/app', 'secret', 1), 'secret/app');
  assert.is(placed('secret/data/app', 'secret', 1), 'secret/data/app');
  assert.is(placed('v1/secret/app', 'secret', 1), 'secret/app');
});

paths('segments are encoded', () => {
  assert.is(placed('secret/a b/ü?x#y%20', 'secret', 2), 'secret/data/a%20b/%C3%BC%3Fx%23y%2520');
});

paths('refuses what is no path', () => {
  for (const path of ['', '/', 'secret', 'secret/', 'secret//app', 'secret/../app', './app', 'a/.']) {
    assert.throws(() => segmentsOf(path), isNotFound, path);
  }
  assert.throws(() => placed('team/kv', 'team/kv', 2), isNotFound);
});

const isNotFound = (error: unknown) =>
  error instanceof VaultError && error.kind === 'not-found' && error.exitStatus === 78;

paths('guesses where the server does not tell', () => {
  const guessed = (path: string) => guessedPlaces(segmentsOf(path)).map(({ apiPath }) => apiPath);
  assert.equal(guessed('secret/app'), ['secret/data/app', 'secret/app']);
  assert.equal(guessed('secret/data/app'), ['secret/data/app', 'secret/data/app']);
  assert.equal(guessed('team/kv/data/app'), ['team/kv/data/app', 'team/kv/data/app']);
  assert.equal(guessed('secret/data'), ['secret/data/data', 'secret/data']);
});

paths.run();
