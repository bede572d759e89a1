import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { objectPartsXml } from '../../../src/plugins/proxy/operations/object-attributes.ts';

const test = suite('parts in GetObjectAttributes');

const parts = [1, 3, 7].map((n) => ({ n, size: n * 10, dek: 'vault:v1:x', nonce: 'x' }));

const list = { manifest: 'x'.repeat(22), parts, seal: 'vault:v1:x', mac: 'x' };

test('a page of parts says how many there are and where it ends', () => {
  const xml = objectPartsXml(list, { marker: 1, limit: 1 });
  assert.match(xml, '<PartsCount>3</PartsCount>');
  assert.match(xml, '<Part><PartNumber>3</PartNumber><Size>30</Size></Part>');
  assert.match(xml, '<NextPartNumberMarker>3</NextPartNumberMarker>');
  assert.match(xml, '<IsTruncated>true</IsTruncated>');
  assert.not.match(xml, '<PartNumber>7');
});

test('the last page is not truncated, and no wrapped key is told', () => {
  const xml = objectPartsXml(list, { marker: 0, limit: 5000 });
  assert.match(xml, '<IsTruncated>false</IsTruncated>');
  assert.match(xml, '<MaxParts>1000</MaxParts>');
  assert.not.match(xml, 'NextPartNumberMarker');
  assert.not.match(xml, 'vault');
});

test('a part has its checksum where the list has them', () => {
  const digests = Buffer.from('0000000100000003000000ff', 'hex');
  const xml = objectPartsXml({ ...list, ofParts: { algorithm: 'crc32', digests } }, { marker: 1, limit: 1 });
  assert.match(xml, '<Size>30</Size><ChecksumCRC32>AAAAAw==</ChecksumCRC32></Part>');
});

test.run();
