import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parseChallenges } from '../../../src/cluster/images/registry-access.ts';

const test = suite('WWW-Authenticate');

const read = (header: string) =>
  parseChallenges(header).map(({ scheme, parameters }) => [scheme, { ...parameters }]);

test('is read as registries write it', () => {
  const hub =
    'Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:library/nginx:pull,push"';
  assert.equal(read(hub), [
    [
      'bearer',
      {
        realm: 'https://auth.docker.io/token',
        service: 'registry.docker.io',
        scope: 'repository:library/nginx:pull,push',
      },
    ],
  ]);
  assert.equal(read('Basic realm="basic-realm"'), [['basic', { realm: 'basic-realm' }]]);
  assert.equal(read('BASIC Realm = plain'), [['basic', { realm: 'plain' }]]);
  assert.equal(read('Basic'), [['basic', {}]]);
  const two = 'Basic realm="a, b", Bearer realm="r\\"q",, service=s';
  assert.equal(read(two), [
    ['basic', { realm: 'a, b' }],
    ['bearer', { realm: 'r"q', service: 's' }],
  ]);
});

test('that is broken is read up to where it is', () => {
  assert.equal(read(''), []);
  assert.equal(read('realm="x"'), []);
  assert.equal(read('Bearer realm="x'), [['bearer', {}]]);
  assert.equal(read('Bearer realm="x", realm="y"'), [['bearer', { realm: 'x' }]]);
  assert.equal(read('Bearer __proto__="x"'), [['bearer', JSON.parse('{"__proto__":"x"}')]]);
});

const name = fc.stringMatching(/^[a-z]{1,8}$/);
const value = fc.string().map((text) => text.replace(/[\r\n]/g, ''));

test('gives back what was written', () => {
  const challenge = fc.tuple(name, fc.dictionary(name, value, { maxKeys: 4 }));
  fc.assert(
    fc.property(fc.array(challenge, { maxLength: 3 }), (challenges) => {
      const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;
      const header = challenges.map(
        ([scheme, parameters]) =>
          `${scheme} ${Object.entries(parameters).map(([key, text]) => `${key}=${quoted(text)}`)}`,
      );
      const expected = challenges.map(([scheme, parameters]) => [scheme, { ...parameters }]);
      assert.equal(read(header.join(', ')), expected);
    }),
  );
});

test('of any text ends', () => {
  fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => void parseChallenges(text)));
  parseChallenges('a='.repeat(100_000));
  parseChallenges(`Bearer realm="${'\\'.repeat(100_000)}`);
});

test.run();
