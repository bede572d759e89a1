import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  matchCredentials,
  readDockerConfigJson,
  readDockercfg,
} from '../../../src/cluster/images/registry-credentials.ts';

const test = suite('pull secrets');

/** The keys that match, in the order to try; each is also the user. */
function matching(keys: readonly string[], name: string): string[] {
  const auths = Object.fromEntries(keys.map((key) => [key, { username: key, password: 'p' }]));
  return matchCredentials(readDockerConfigJson(JSON.stringify({ auths })), name).map(
    ({ username }) => username,
  );
}

const yes: readonly (readonly [string, string])[] = [
  ['registry.example', 'registry.example/app'],
  ['https://registry.example', 'registry.example/app'],
  ['http://registry.example/', 'registry.example/app'],
  ['https://registry.example/v1/', 'registry.example/app'],
  ['https://registry.example/v2/', 'registry.example/app'],
  ['registry.example/team', 'registry.example/team/app'],
  ['registry.example/team', 'registry.example/teams/app'],
  ['https://registry.example/v2/team', 'registry.example/team/app'],
  ['registry.example:5000', 'registry.example:5000/app'],
  ['*.example', 'registry.example/app'],
  ['*.*.example', 'a.b.example/app'],
  ['reg*.ex*le', 'registry.example/app'],
  ['*g*s*.example:5000/team', 'registry.example:5000/team/app'],
  ['[::1]:5000', '[::1]:5000/app'],
  ['docker.io', 'docker.io/library/nginx'],
  ['https://index.docker.io/v1/', 'docker.io/library/nginx'],
  ['index.docker.io', 'docker.io/library/nginx'],
];

const no: readonly (readonly [string, string])[] = [
  ['registry.example', 'other.example/app'],
  ['registry.example', 'registry.example.evil/app'],
  ['registry.example', 'my.registry.example/app'],
  ['*.example', 'a.b.example/app'],
  ['*', 'registry.example/app'],
  ['*.example', 'example/app'],
  ['registry.example', 'registry.example:5000/app'],
  ['registry.example:5000', 'registry.example/app'],
  ['registry.example:*', 'registry.example:5000/app'],
  ['registry.example/team', 'registry.example/other/app'],
  ['registry.example/*/app', 'registry.example/team/app'],
  ['registr?.example', 'registry.example/app'],
  ['reg*reg.example', 'reg.example/app'],
  ['index.docker.io', 'registry.example/library/nginx'],
  ['https://index.docker.io/v1', 'docker.io/library/nginx'],
  ['a b', 'a b/app'],
];

test('are for what the kubelet takes them to be for', () => {
  for (const [key, name] of yes) assert.equal(matching([key], name), [key], `${key} for ${name}`);
  for (const [key, name] of no) assert.equal(matching([key], name), [], `${key} not for ${name}`);
});

test('are tried with the most specific first', () => {
  const keys = [
    'registry.example',
    '*.example',
    'registry.example/team/app',
    'registry.example/team',
    'other.example',
  ];
  const order = ['registry.example/team/app', 'registry.example/team', 'registry.example', '*.example'];
  assert.equal(matching(keys, 'registry.example/team/app'), order);
});

test('of Docker Hub give way to a key that fits by itself', () => {
  const keys = ['https://index.docker.io/v1/', 'docker.io'];
  assert.equal(matching(keys, 'docker.io/library/nginx'), ['docker.io']);
});

test('with the same user are tried once, in the place of the first', () => {
  const same = { username: 'u', password: 'p' };
  const auths = { 'r.example': same, 'r.example/a': same, 'r.example/b': { ...same, password: 'q' } };
  const found = matchCredentials(readDockerConfigJson(JSON.stringify({ auths })), 'r.example/a');
  assert.equal(found, [{ key: 'r.example/a', ...same }]);
});

test('match a glob as a regular expression would', () => {
  const part = fc.stringMatching(/^[ab*]{1,8}$/);
  const host = fc.stringMatching(/^[ab]{1,10}$/);
  fc.assert(
    fc.property(part, host, (glob, text) => {
      const expected = new RegExp(`^${glob.replaceAll('*', '.*')}$`).test(text);
      assert.is(matching([`${glob}.x`], `${text}.x/app`).length === 1, expected);
    }),
    { numRuns: 2_000 },
  );
});

const readable = fc.string({ minLength: 1 }).filter((text) => !text.includes(':') && text.isWellFormed());

test('hold a user as base64, padded or not, or in the clear', () => {
  fc.assert(
    fc.property(
      readable,
      fc.string().filter((text) => text.isWellFormed()),
      (username, password) => {
        const padded = Buffer.from(`${username}:${password}`).toString('base64');
        const clear = [{ key: 'r.example', username, password }];
        for (const entry of [{ auth: padded }, { auth: padded.replace(/=+$/, '') }, { username, password }]) {
          const text = JSON.stringify({ 'r.example': entry });
          assert.equal(readDockercfg(text), clear);
          assert.equal(readDockerConfigJson(`{"auths":${text}}`), clear);
        }
      },
    ),
  );
});

test('without a user say nothing', () => {
  assert.equal(readDockerConfigJson('{}'), []);
  assert.equal(readDockerConfigJson('{"auths":null}'), []);
  const auths = { 'r.example': {}, 'q.example': { identitytoken: 'x' }, 'p.example': { auth: '' } };
  assert.equal(readDockerConfigJson(JSON.stringify({ auths })), []);
});

test('that are broken are refused without a word of what is in them', () => {
  const secret = 'hunter2-secret';
  const wrong = [
    secret,
    `{"auths": ${secret}`,
    `["${secret}"]`,
    `{"auths": "${secret}"}`,
    `{"auths": ["${secret}"]}`,
    `{"auths": {"r": "${secret}"}}`,
    `{"auths": {"r": {"auth": "${secret}"}}}`,
    `{"auths": {"r": {"auth": "${Buffer.from(secret).toString('base64')}"}}}`,
    `{"auths": {"r": {"username": ["${secret}"]}}}`,
  ];
  for (const text of wrong) {
    try {
      readDockerConfigJson(text);
    } catch (error) {
      assert.is((error as Error).name, 'ImageError');
      assert.not.match(`${(error as Error).message} ${(error as Error).cause}`, /hunter2|aHVudGVy/);
      continue;
    }
    assert.unreachable(text);
  }
});

test.run();
