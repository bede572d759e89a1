import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { hpkeOpen, hpkeSeal } from '../../../src/objects/format/hpke.ts';
import type { BindingMode, KeyPurpose } from '../../../src/objects/format/metadata.ts';
import {
  openPartRecovery,
  openRecovery,
  recipientsOf,
  recoverySize,
  sealForRecovery,
  sealPartForRecovery,
} from '../../../src/objects/format/recovery.ts';
import { x25519PrivateKey, x25519PublicKey } from '../../../src/runtime/recovery-recipients/x25519.ts';
import { ageKey } from '../../support/age-keys.ts';

const test = suite('recovery keys');

const pair = () => {
  const { rawPublic, rawPrivate } = ageKey();
  return { recipient: x25519PublicKey(rawPublic), identity: x25519PrivateKey(rawPrivate) };
};

test('what is sealed opens with the same key and info alone, and every changed byte is noticed', () => {
  const { recipient, identity } = pair();
  const info = Buffer.from('info');
  const message = randomBytes(32);
  const sealed = hpkeSeal(recipient, info, message);
  assert.is(sealed.length, 80);
  assert.equal(hpkeOpen(identity, info, sealed), message);
  assert.is(hpkeOpen(identity, Buffer.from('other'), sealed), undefined);
  assert.is(hpkeOpen(pair().identity, info, sealed), undefined);
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] as number) ^ 1;
    assert.is(hpkeOpen(identity, info, changed), undefined, `byte ${at}`);
  }
  assert.is(hpkeOpen(identity, info, Buffer.alloc(80)), undefined, 'a public key of small order');
  assert.is(hpkeOpen(identity, info, sealed.subarray(0, 47)), undefined);
  assert.not.equal(hpkeSeal(recipient, info, message), sealed);
});

const purposes: readonly KeyPurpose[] = [
  { kind: 'object' },
  { kind: 'seal', upload: 'oJR9fYq6kCvMT0QGfpLspg' },
  { kind: 'seal', upload: 'oJR9fYq6kCvMT0QGfpLspw' },
];

test('a blob belongs to its place and its recipients', () => {
  const [one, other, stranger] = [pair(), pair(), pair()];
  const modes: readonly BindingMode[] = ['none', 'key', 'bucket-key'];
  const name = fc.record({ bucket: fc.constantFrom('a', 'b'), key: fc.constantFrom('x', 'y') });
  const place = fc.tuple(fc.constantFrom(...modes), name, fc.constantFrom(...purposes));
  const binds = ([mode, { bucket, key }, purpose]: readonly [
    BindingMode,
    { bucket: string; key: string },
    KeyPurpose,
  ]) => JSON.stringify([mode === 'none' ? 0 : key, mode === 'bucket-key' ? bucket : 0, purpose]);
  fc.assert(
    fc.property(place, place, (here, there) => {
      const key = randomBytes(32);
      const text = sealForRecovery([one.recipient, other.recipient], key, ...here);
      assert.is(recipientsOf(text), 2);
      assert.is('svc-recovery'.length + text.length, recoverySize(2));
      const same = binds(here) === binds(there);
      for (const { identity } of [one, other]) {
        const opened = openRecovery([stranger.identity, identity], text, ...there);
        assert.equal(opened, same ? key : undefined);
      }
      assert.is(openRecovery([stranger.identity], text, ...here), undefined);
    }),
    { numRuns: 60 },
  );
});

test('the key of a part opens under the seal key of its upload, for its number', () => {
  const [seal, dek] = [randomBytes(32), randomBytes(32)];
  const text = sealPartForRecovery(seal, 'upload', 7, dek);
  assert.is(text.length, 80);
  assert.equal(openPartRecovery(seal, 'upload', 7, text), dek);
  assert.is(openPartRecovery(seal, 'upload', 8, text), undefined);
  assert.is(openPartRecovery(seal, 'other', 7, text), undefined);
  assert.is(openPartRecovery(randomBytes(32), 'upload', 7, text), undefined);
  assert.is(openPartRecovery(seal, 'upload', 7, ''), undefined);
});

test.run();
