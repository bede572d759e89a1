import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readIdentities, readRecipient } from '../../../src/runtime/recovery-recipients/age-keys.ts';
import { rawPublicKey } from '../../../src/runtime/recovery-recipients/x25519.ts';
import { ageKey } from '../../support/age-keys.ts';

const test = suite('keys as age writes them');

test('a public key is read in both forms', () => {
  const known = readRecipient('age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p');
  assert.is(known && rawPublicKey(known).length, 32);
  for (let index = 0; index < 20; index++) {
    const { recipient, rawPublic } = ageKey();
    for (const text of [recipient, rawPublic.toString('base64')]) {
      const key = readRecipient(text);
      assert.equal(key && rawPublicKey(key), rawPublic, text);
    }
  }
});

test('points with which every private key agrees on zero are no keys', () => {
  for (const first of [0, 1]) {
    const raw = Buffer.alloc(32);
    raw[0] = first;
    assert.is(readRecipient(raw.toString('base64')), undefined, String(first));
  }
});

test('one letter that differs makes it no key', () => {
  const { recipient } = ageKey();
  fc.assert(
    fc.property(
      fc.nat(recipient.length - 1),
      fc.constantFrom(...'qpzry9x8gf2tvdw0s3jn54khce6mua7l1bio'),
      (at, letter) => {
        const changed = recipient.slice(0, at) + letter + recipient.slice(at + 1);
        return changed === recipient || readRecipient(changed) === undefined;
      },
    ),
  );
  for (const text of [
    '',
    'age1',
    recipient.toUpperCase(),
    `${recipient} `,
    recipient.slice(0, -1),
    ageKey().identity,
  ])
    assert.is(readRecipient(text), undefined, text);
});

test('private keys are read from a file of age-keygen, and raw', () => {
  const [one, other] = [ageKey(), ageKey()];
  const read = (content: Buffer) => readIdentities(content)?.map(rawPublicKey);
  assert.equal(read(Buffer.from(`# x\r\n${one.identity}\r\n\n${other.identity}`)), [
    one.rawPublic,
    other.rawPublic,
  ]);
  assert.equal(read(Buffer.from(`${one.rawPrivate.toString('base64')}\n`)), [one.rawPublic]);
  assert.equal(read(one.rawPrivate), [one.rawPublic]);
  for (const text of ['', '# nothing\n', one.recipient, `${one.identity}\nx`, one.identity.slice(0, -1)])
    assert.is(read(Buffer.from(text)), undefined, text);
  const mixed = `a${one.identity.slice(1)}`;
  assert.is(read(Buffer.from(mixed)), undefined);
});

test.run();
