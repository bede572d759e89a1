import { randomBytes } from 'node:crypto';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { findSecrets, formsOf } from './support/search.ts';

const test = suite('the search for secrets');
const secret = { name: 'planted', bytes: randomBytes(32) };

test('finds what is planted in every form, whatever stands around it', () => {
  const written = {
    raw: (bytes: Buffer) => bytes,
    hex: (bytes: Buffer) => bytes.toString('hex'),
    HEX: (bytes: Buffer) => bytes.toString('hex').toUpperCase(),
    base64: (bytes: Buffer) => bytes.toString('base64'),
    base64url: (bytes: Buffer) => bytes.toString('base64url'),
  };
  for (const [label, write] of Object.entries(written))
    for (let before = 0; before < 12; before++)
      for (let after = 0; after < 4; after++) {
        const around = Buffer.concat([randomBytes(before), secret.bytes, randomBytes(after)]);
        const bytes = Buffer.concat([
          Buffer.from('{"x":"'),
          Buffer.from(write(around) as string),
          Buffer.from('"}'),
        ]);
        assert.ok(
          findSecrets([secret], [{ name: 'place', bytes }]).length > 0,
          `${label} ${before} ${after}`,
        );
      }
});

test('says what it found and where', () => {
  const bytes = Buffer.from(`token ${secret.bytes.toString('hex')}`);
  assert.equal(findSecrets([secret], [{ name: 'the log', bytes }]), ['planted as hex in the log']);
});

test('finds nothing where nothing is', () => {
  assert.equal(findSecrets([secret], [{ name: 'noise', bytes: randomBytes(1_000_000) }]), []);
});

test('each form holds nearly all of the secret', () => {
  for (const { name, bytes } of formsOf(secret.bytes)) assert.ok(bytes.length >= 32, name);
});

test.run();
