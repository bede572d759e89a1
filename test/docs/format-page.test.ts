import { createDecipheriv, createHash, createHmac, hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openWhole } from '../../src/objects/format/cipher.ts';
import { readPartList } from '../../src/objects/format/manifest.ts';
import { associatedData } from '../../src/objects/format/metadata.ts';
import { numberOf } from '../../src/objects/format/sealed-checksums.ts';
import { type ChecksumAlgorithm, digestLength } from '../../src/objects/s3/checksum.ts';
import { storedVectors } from '../objects/format/vectors.ts';
import { transitKey } from '../tools/format-vectors/stored-objects.ts';

const test = suite('docs/FORMAT.md');

const page = readFileSync(new URL('../../docs/FORMAT.md', import.meta.url), 'utf8');
const vectors = storedVectors(['read', 'refuse', 'recovery']);

function objectOf(vector: string) {
  const [object] = vectors.find(({ name }) => name === vector)?.objects ?? [];
  if (object === undefined) throw new Error(`no vector ${vector}`);
  return {
    ...object,
    body: Buffer.from(object.body, 'base64'),
    dek: object.metadata['svc-wrapped-dek'] ?? '',
  };
}

const says = (...values: string[]) => {
  for (const value of values) assert.ok(page.includes(`\`${value}\``), value);
};

test('says how many vectors there are, and names every reason that they do', () => {
  assert.ok(page.includes(`holds ${vectors.length} test vectors`), String(vectors.length));
  const reasons = vectors.flatMap(({ expect }) => ('refused' in expect ? [expect.refused] : []));
  says(...new Set(reasons));
});

test('its reader in Python is short enough to be read before it is trusted', () => {
  const reader = readFileSync(new URL('../../docs/format/read.py', import.meta.url), 'utf8');
  const lines = reader.trimEnd().split('\n');
  assert.ok(lines.length <= 300, `${lines.length} lines`);
  const longest = Math.max(...lines.map((line) => line.length));
  assert.ok(longest <= 125, `${longest} characters in a line`);
});

test('its example of an object in one piece is that of the vector', () => {
  const { bucket, key, body, dek } = objectOf('read/single-1-byte');
  const text = associatedData('key', { bucket, key }, { kind: 'object' }) as string;
  const opened = transitKey.decrypt(dek, Buffer.from(text));
  const plaintext = openWhole(body, opened).toString('hex');
  says(text, Buffer.from(text).toString('base64'), opened.toString('hex'), plaintext);
  says(body.subarray(0, 12).toString('hex'), body.subarray(12, 13).toString('hex'));
  says(body.subarray(13).toString('hex'));
});

test('its example of a part list is that of the vector', () => {
  const { bucket, key, dek } = objectOf('read/inline-1-part');
  const list = readPartList(JSON.parse(dek));
  const [part] = list.parts;
  if (part === undefined || 'salt' in part) throw new Error('no part of format 1');
  const sealText = associatedData('key', { bucket, key }, { kind: 'seal', upload: list.manifest }) as string;
  const sealKey = transitKey.decrypt(list.seal, Buffer.from(sealText));
  const input = `svc/1\n${list.manifest}\n1\n${part.n} ${part.size} ${part.nonce} ${part.dek}\n`;
  const mac = createHmac('sha256', sealKey).update(input).digest();
  assert.is(mac.toString('base64'), list.mac);
  says(sealText, sealKey.toString('hex'), input.replaceAll('\n', '⏎'), mac.toString('hex'));
  const purpose = { kind: 'part', upload: list.manifest, number: 1 } as const;
  const partText = associatedData('key', { bucket, key }, purpose) as string;
  says(partText, transitKey.decrypt(part.dek, Buffer.from(partText)).toString('hex'));
});

test('its example of format 2 is that of the vector', () => {
  const { bucket, key, body, dek, metadata } = objectOf('read/format-2-1-byte');
  const text = associatedData('key', { bucket, key }, { kind: 'object', format: 2 }) as string;
  const opened = transitKey.decrypt(dek, Buffer.from(text));
  const derivation = metadata['svc-derivation'] as string;
  const salt = Buffer.from(derivation.split('.')[0] as string, 'base64url');
  const derive = (info: string) => Buffer.from(hkdfSync('sha512', opened, salt, info, 32)).toString('hex');
  const [nonce, associated] = ['000000000000000000000001', '7376632f320a00000000000000000000'];
  const bodyKey = derive('svc/2/key\n0\n');
  says(
    text,
    opened.toString('hex'),
    derivation,
    derive('svc/2/commitment\n0\n1\n'),
    bodyKey,
    nonce,
    associated,
  );
  const decipher = createDecipheriv('aes-256-gcm', Buffer.from(bodyKey, 'hex'), Buffer.from(nonce, 'hex'), {
    authTagLength: 16,
  });
  decipher.setAAD(Buffer.from(associated, 'hex')).setAuthTag(body.subarray(1));
  const plaintext = Buffer.concat([decipher.update(body.subarray(0, 1)), decipher.final()]);
  says(body.subarray(0, 1).toString('hex'), body.subarray(1).toString('hex'), plaintext.toString('hex'));
});

test('its table of checksums is that of the code', () => {
  const rows = [...page.matchAll(/^\| (\d+) +\| `([a-z0-9]+)` +\| (\d+) +\|$/gm)].map((row) => row.slice(1));
  const algorithms = Object.keys(digestLength) as ChecksumAlgorithm[];
  assert.equal(
    rows,
    algorithms.map((algorithm) => [
      ...[String(numberOf(algorithm)), algorithm],
      String(digestLength[algorithm]),
    ]),
  );
});

test('its example of a checksum is that of the vector', () => {
  const { bucket, key, dek, body, metadata } = objectOf('read/checksum-single-crc64nvme');
  const text = associatedData('key', { bucket, key }, { kind: 'object' }) as string;
  const opened = transitKey.decrypt(dek, Buffer.from(text));
  const header = metadata['svc-checksum'] as string;
  const derived = createHmac('sha256', opened).update('svc/whole-checksum/1\u0001').digest();
  const sealed = Buffer.from(header.split('.')[2] as string, 'base64url');
  const [nonce, ciphertext, tag] = [sealed.subarray(0, 12), sealed.subarray(12, -16), sealed.subarray(-16)];
  const associated = `svc/whole-checksum/1\n${body.length - 28}\n`;
  const decipher = createDecipheriv('aes-256-gcm', derived, nonce, { authTagLength: 16 });
  decipher.setAAD(Buffer.from(associated)).setAuthTag(tag);
  const plain = Buffer.concat([decipher.update(ciphertext), decipher.final()]);
  says(header, opened.toString('hex'), derived.toString('hex'), associated.replaceAll('\n', '⏎'));
  says(nonce.toString('hex'), ciphertext.toString('hex'), tag.toString('hex'));
  const digest = plain.subarray(1);
  says(plain.subarray(0, 1).toString('hex'), digest.toString('hex'), digest.toString('base64'));
});

test('its manifest is where that of the vector lies', () => {
  const { key } = objectOf('read/pointer-unbound');
  const hash = createHash('sha256').update('["reports","pointer-unbound.bin"]').digest('hex');
  assert.ok(key.startsWith(`.svc/manifests/${hash}/`));
  says(`.svc/manifests/${hash}/`);
});

test.run();
