import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  decryptBody,
  decryptVerifiedFrom,
  encryptBody,
  nonceBytes,
  overheadBytes,
  plaintextSize,
  storedSize,
  tagBytes,
} from '../../../src/objects/format/cipher.ts';
import { faultOf } from './fault.ts';

const test = suite('body cipher');

interface Vector {
  readonly label: string;
  readonly dek: string;
  readonly nonce: string;
  readonly plaintext: string;
  readonly stored: string;
}
const { bodies } = JSON.parse(
  readFileSync(new URL('../../vectors/envelope/bodies.json', import.meta.url), 'utf8'),
) as { bodies: Vector[] };

const bytes = (size: number) => fc.uint8Array({ minLength: size, maxLength: size }).map(Buffer.from);
const plaintexts = fc.uint8Array({ maxLength: 2000 }).map((array) => Buffer.from(array));

function encrypt(dek: Buffer, chunks: readonly Buffer[]): Buffer {
  const cipher = encryptBody(dek);
  return Buffer.concat([cipher.nonce, ...chunks.map((chunk) => cipher.update(chunk)), cipher.finish()]);
}

function decrypt(dek: Buffer, stored: Buffer): Buffer {
  const decryption = decryptBody(dek, stored.subarray(0, nonceBytes));
  const plaintext = decryption.update(stored.subarray(nonceBytes, -tagBytes));
  decryption.verify(stored.subarray(-tagBytes));
  return plaintext;
}

/** Splits at arbitrary places. */
const split = (whole: Buffer, cuts: readonly number[]): Buffer[] => {
  const places = [0, ...cuts.map((cut) => cut % (whole.length + 1)).sort((a, b) => a - b), whole.length];
  return places.slice(1).map((end, index) => whole.subarray(places[index], end));
};

test('vectors decrypt, from every offset too', () => {
  for (const { label, dek, nonce, plaintext, stored } of bodies) {
    const [key, body, plain] = [dek, stored, plaintext].map((hex) => Buffer.from(hex, 'hex')) as [
      Buffer,
      Buffer,
      Buffer,
    ];
    assert.equal(decrypt(key, body), plain, label);
    for (let offset = 0; offset <= plain.length; offset++) {
      const ciphertext = body.subarray(nonceBytes + offset, -tagBytes);
      const rest = decryptVerifiedFrom(key, Buffer.from(nonce, 'hex'), offset).update(ciphertext);
      assert.equal(rest, plain.subarray(offset), `${label} from ${offset}`);
    }
  }
});

test('what was encrypted in any pieces is decrypted, 28 bytes longer', () => {
  fc.assert(
    fc.property(bytes(32), plaintexts, fc.array(fc.nat(), { maxLength: 5 }), (dek, plaintext, cuts) => {
      const stored = encrypt(dek, split(plaintext, cuts));
      assert.is(stored.length, storedSize(plaintext.length));
      assert.is(plaintextSize(stored.length), plaintext.length);
      assert.equal(decrypt(dek, stored), plaintext);
    }),
  );
});

test('any flipped bit, cut or extension is found', () => {
  fc.assert(
    fc.property(bytes(32), plaintexts, fc.nat(), fc.nat({ max: 7 }), (dek, plaintext, place, bit) => {
      const stored = encrypt(dek, [plaintext]);
      const flipped = Buffer.from(stored);
      const at = place % flipped.length;
      flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << bit), at);
      const extended = Buffer.concat([stored, Buffer.from([bit])]);
      for (const wrong of [flipped, extended, ...(plaintext.length > 0 ? [stored.subarray(0, -1)] : [])])
        assert.is(
          faultOf(() => decrypt(dek, wrong)),
          'authentication-failed',
        );
    }),
  );
});

test('another key is found', () => {
  const stored = encrypt(Buffer.alloc(32, 1), [Buffer.from('x')]);
  assert.is(
    faultOf(() => decrypt(Buffer.alloc(32, 2), stored)),
    'authentication-failed',
  );
});

test('a short tag is refused: forging one would be cheap', () => {
  const dek = Buffer.alloc(32, 1);
  const stored = encrypt(dek, [Buffer.from('data')]);
  const decryption = decryptBody(dek, stored.subarray(0, nonceBytes));
  decryption.update(stored.subarray(nonceBytes, -tagBytes));
  assert.is(
    faultOf(() => decryption.verify(stored.subarray(-tagBytes, -12))),
    'authentication-failed',
  );
});

test('nonces differ', () => {
  const dek = Buffer.alloc(32);
  const nonces = new Set(Array.from({ length: 1000 }, () => encryptBody(dek).nonce.toString('hex')));
  assert.is(nonces.size, 1000);
});

test('what is too short to be a stored body has no plaintext size', () => {
  assert.is(plaintextSize(overheadBytes - 1), undefined);
  assert.is(plaintextSize(overheadBytes), 0);
});

test.run();
