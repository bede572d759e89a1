import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { nameSecrets } from '../../../../src/plugins/wrapper/name-secrets.ts';
import { parseEnvMap } from '../../../../src/runtime/environment/env-map.ts';
import type { SvcError } from '../../../../src/runtime/errors.ts';

const test = suite('names of delivered secrets');

const documentAt = (path: string, fields: Record<string, string>) => ({
  path,
  fields: Object.entries(fields).map(([name, value]) => ({ name, value: Buffer.from(value) })),
});
const app = documentAt('secret/app', { user: 'joe', pass: 'swordfish' });
const db = documentAt('kv/db', { url: 'sql:1' });

function name(documents: Parameters<typeof nameSecrets>[0], map?: string, envMapOnly = false) {
  const envMap = map === undefined ? undefined : parseEnvMap(map).map;
  return nameSecrets(documents, { envMap, envMapOnly, delivery: 'both' });
}

const shown = (...args: Parameters<typeof name>) =>
  name(...args).map(({ key, value }) => `${key}=${Buffer.from(value)}`);

function errors(...args: Parameters<typeof name>): readonly string[] {
  try {
    name(...args);
    return [];
  } catch (error) {
    const { code, exitStatus, details } = error as SvcError;
    assert.equal([code, exitStatus], ['SECRETS_UNUSABLE', 78]);
    return details;
  }
}

test('every field under its own name', () => {
  assert.equal(shown([app, db]), ['user=joe', 'pass=swordfish', 'url=sql:1']);
});

test('mapped fields under the mapped names, the others under their own', () => {
  assert.equal(shown([app, db], 'pass=DB_PASS'), ['user=joe', 'DB_PASS=swordfish', 'url=sql:1']);
  assert.equal(shown([app, db], ';url=DB_URL'), ['user=joe', 'pass=swordfish', 'DB_URL=sql:1']);
  assert.equal(shown([app], 'pass=A,pass=B'), ['user=joe', 'A=swordfish', 'B=swordfish']);
});

test('mapped fields only, on request', () => {
  assert.equal(shown([app, db], 'pass=DB_PASS', true), ['DB_PASS=swordfish']);
});

test('a swap of two names is no collision', () => {
  assert.equal(shown([app], 'user=pass,pass=user'), ['pass=joe', 'user=swordfish']);
});

test('a value stays where it is', () => {
  const [first] = name([app]);
  assert.is(first?.value, app.fields[0]?.value);
});

test('the origin of each is known', () => {
  const [, second] = name([app], 'pass=P');
  assert.equal([second?.path, second?.field], ['secret/app', 'pass']);
});

test('names every error at once, with path and field', () => {
  const odd = documentAt('kv/odd', {
    '': 'swordfish',
    'a=b': 'swordfish',
    'n\0': 'swordfish',
    SVC_SECRET_FD: '3',
    nul: 'a\0b',
  });
  assert.equal(errors([app, documentAt('kv/db', { user: 'swordfish' }), odd], 'nix=A,pass=B;none=C'), [
    'secret/app, field "nix": does not exist, but SVC_ENV_MAP maps it to A',
    'kv/db, field "none": does not exist, but SVC_ENV_MAP maps it to C',
    'kv/odd, field "": has an empty name',
    'kv/odd, field "a=b": has a name with "=" or NUL, which no variable can have',
    'kv/odd, field "n\\u0000": has a name with "=" or NUL, which no variable can have',
    'kv/odd, field "SVC_SECRET_FD": has the name SVC_SECRET_FD, which the wrapper sets itself',
    'kv/odd, field "nul": has a value with a NUL byte, which ends a variable',
    'secret/app, field "user" and kv/db, field "user": have the same name "user"',
  ]);
});

test('a mapped name may meet an own one, also within a path', () => {
  assert.equal(errors([app, db], ';url=pass'), [
    'secret/app, field "pass" and kv/db, field "url": have the same name "pass"',
  ]);
  assert.is(errors([app], 'user=pass').length, 1);
  assert.equal(errors([app], 'user=pass', true), []);
});

test('a field that is left out is not looked at', () => {
  assert.equal(errors([documentAt('kv/odd', { 'a=b': 'x\0', ok: '1' })], 'ok=OK', true), []);
});

test('either every field is delivered once or an error is told', () => {
  const field = fc.constantFrom('a', 'b', 'c', '', 'x=');
  const fields = fc.uniqueArray(field, { maxLength: 3 });
  fc.assert(
    fc.property(fc.array(fields, { maxLength: 3 }), (names) => {
      const all = names.flat();
      const documents = names.map((some, at) =>
        documentAt(`kv/${at}`, Object.fromEntries(some.map((one) => [one, '1']))),
      );
      const wrong = new Set(all).size < all.length || all.includes('') || all.includes('x=');
      assert.is(errors(documents).length > 0, wrong);
      if (!wrong)
        assert.equal(
          name(documents).map(({ key }) => key),
          all,
        );
    }),
  );
});

test.run();
