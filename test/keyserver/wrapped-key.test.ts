import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  isCanonicalBase64,
  maxWrappedKeyLength,
  parseWrappedKey,
} from '../../src/keyserver/transit-messages.ts';

const test = suite('wrapped key');

const payload = fc
  .uint8Array({ minLength: 1, maxLength: 200 })
  .map((bytes) => Buffer.from(bytes).toString('base64'));
const version = fc.integer({ min: 1, max: 999_999_999 });

test('every version and payload that transit writes comes back', () => {
  fc.assert(
    fc.property(version, payload, (keyVersion, text) => {
      assert.equal(parseWrappedKey(`vault:v${keyVersion}:${text}`), { keyVersion, payload: text });
    }),
  );
});

test('a character before, after or in between makes it none', () => {
  const odd = fc.constantFrom(' ', '\n', '\0', '-', '_', '=', ':', 'é', '"');
  fc.assert(
    fc.property(version, payload, odd, fc.nat(), (keyVersion, text, extra, place) => {
      const whole = `vault:v${keyVersion}:${text.replace(/=+$/, '')}`;
      const at = place % (whole.length + 1);
      const changed = whole.slice(0, at) + extra + whole.slice(at);
      const parsed = parseWrappedKey(changed);
      // An "=" in the last place may be the padding that was taken away.
      if (parsed !== undefined) assert.is(changed, `vault:v${keyVersion}:${text}`);
    }),
  );
});

test('canonical base64 is exactly what encoding gives', () => {
  const letters = 'ABQghwxyz0189+/=AAAA';
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...letters), { minLength: 1, maxLength: 12 }), (list) => {
      const text = list.join('');
      const same = Buffer.from(text, 'base64').toString('base64') === text;
      assert.is(isCanonicalBase64(text), same, text);
    }),
    { numRuns: 2_000 },
  );
  assert.is(isCanonicalBase64(''), false);
  assert.is(isCanonicalBase64(randomBytes(32).toString('base64')), true);
});

for (const text of [
  '',
  'vault:v1:',
  'vault:v0:AAAA',
  'vault:v01:AAAA',
  'vault:v-1:AAAA',
  'vault:v1.0:AAAA',
  'vault:v1e3:AAAA',
  'vault:v1234567890:AAAA',
  'vault:1:AAAA',
  'Vault:v1:AAAA',
  'vault:v1:AAA',
  'vault:v1:AAB=',
  'vault:v1:AAAA\n',
  'vault:v1:AAAA:AAAA',
  `vault:v1:${'A'.repeat(maxWrappedKeyLength)}`,
]) {
  test(`refuses ${JSON.stringify(text.slice(0, 30))}`, () => assert.is(parseWrappedKey(text), undefined));
}

test.run();
