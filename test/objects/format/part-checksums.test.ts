import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readPartList, serializePartList } from '../../../src/objects/format/manifest.ts';
import {
  openPartChecksums,
  partChecksum,
  sealPartChecksums,
} from '../../../src/objects/format/sealed-checksums.ts';
import { checksumAlgorithms, digestLength } from '../../../src/objects/s3/checksum.ts';
import { faultOf } from './fault.ts';

const test = suite('the checksums of parts kept with an object');
const key = randomBytes(32);

test('those of every kind are read as they were sealed', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...checksumAlgorithms),
      fc.integer({ min: 1, max: 300 }),
      fc.string(),
      (algorithm, parts, mac) => {
        const digests = randomBytes(parts * digestLength[algorithm]);
        const opened = openPartChecksums(
          key,
          mac,
          sealPartChecksums(key, mac, { algorithm, digests }),
          parts,
        );
        assert.equal(opened, { algorithm, digests });
        const last = partChecksum({ algorithm, digests }, parts - 1);
        assert.equal(last, digests.subarray(-digestLength[algorithm]));
      },
    ),
  );
});

test('another key, list, number of parts, or bit is refused', () => {
  const digests = randomBytes(12);
  const sealed = sealPartChecksums(key, 'mac', { algorithm: 'crc32', digests });
  const bit = Buffer.from(sealed, 'base64url');
  bit.writeUInt8(bit.readUInt8(20) ^ 1, 20);
  for (const open of [
    () => openPartChecksums(randomBytes(32), 'mac', sealed, 3),
    () => openPartChecksums(key, 'other', sealed, 3),
    () => openPartChecksums(key, 'mac', sealed, 4),
    () => openPartChecksums(key, 'mac', bit.toString('base64url'), 3),
  ])
    assert.is(faultOf(open), 'record-forged');
});

test('a list passes on what has their form, and leaves out the rest', () => {
  const wrapped = 'vault:v1:YQ==';
  const list = {
    ...{ manifest: 'x'.repeat(22), seal: wrapped, mac: 'mac' },
    parts: [{ n: 1, dek: wrapped, nonce: Buffer.alloc(12).toString('base64'), size: 1 }],
  };
  const read = (sums: unknown) =>
    readPartList(JSON.parse(serializePartList({ ...list, sums } as typeof list)));
  assert.equal(read('AAAA'), { ...list, sums: 'AAAA' });
  for (const other of ['', 'a+', 1, null, 'A'.repeat(900_001)]) assert.equal(read(other), list);
});

test.run();
