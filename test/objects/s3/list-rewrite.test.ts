import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { S3Error } from '../../../src/objects/s3/error.ts';
import * as listings from '../../../src/objects/s3/listing.ts';
import { element } from '../../../src/objects/s3/xml-text.ts';
import { refusal } from './refusals.ts';

const test = suite('listings');

const declaration = '<?xml version="1.0" encoding="UTF-8"?>\n';
const document = (root: string, body: string) =>
  `${declaration}<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${body}</${root}>`;
const contents = (key: string, size = 30) =>
  `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00Z</LastModified><ETag>&quot;${'0'.repeat(32)}&quot;</ETag>` +
  `<ChecksumAlgorithm>CRC32</ChecksumAlgorithm><ChecksumType>FULL_OBJECT</ChecksumType><Size>${size}</Size>` +
  '<Owner><ID>me</ID><DisplayName>Size</DisplayName></Owner><StorageClass>STANDARD</StorageClass></Contents>';
const unchanged = () => undefined;
const scanListing = (xml: string) => listings.scanListing(Buffer.from(xml));
const scanAttributes = (xml: string) => listings.scanAttributes(Buffer.from(xml));

function rewriteListing(...given: Parameters<typeof listings.rewriteListing>): string {
  const { length, blocks } = listings.rewriteListing(...given);
  const written = Buffer.concat([...blocks]);
  assert.is(written.length, length);
  return written.toString();
}

const essence = (entries: readonly listings.ListingEntry[]) =>
  entries.map(({ element: name, key, etag, size, versionId, partNumber, uploadId }) =>
    JSON.parse(JSON.stringify({ name, key, etag, size, versionId, partNumber, uploadId })),
  );

test('gives the entries of ListObjectsV2', () => {
  const xml = document(
    'ListBucketResult',
    `${contents('a&amp;b')}<CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes>`,
  );
  assert.equal(essence(scanListing(xml).entries), [
    { name: 'Contents', key: 'a&b', etag: `"${'0'.repeat(32)}"`, size: 30 },
    { name: 'CommonPrefixes', key: 'p/' },
  ]);
});

test('gives the entries of ListObjectVersions, ListParts and ListMultipartUploads', () => {
  const version = '<Version><ETag>"e"</ETag><Size>1</Size><Key>k</Key><VersionId>v1</VersionId></Version>';
  const marker = '<DeleteMarker><Key>k</Key><VersionId>v2</VersionId></DeleteMarker>';
  assert.equal(essence(scanListing(document('ListVersionsResult', version + marker)).entries), [
    { name: 'Version', key: 'k', etag: '"e"', size: 1, versionId: 'v1' },
    { name: 'DeleteMarker', key: 'k', versionId: 'v2' },
  ]);
  const part =
    '<Part><PartNumber>3</PartNumber><ETag>"e"</ETag><Size>31</Size><ChecksumCRC32>A</ChecksumCRC32></Part>';
  const parts = scanListing(document('ListPartsResult', `<Key>k</Key><UploadId>u</UploadId>${part}`));
  assert.equal(essence(parts.entries), [{ name: 'Part', key: '', etag: '"e"', size: 31, partNumber: 3 }]);
  const upload = '<Upload><Key>k</Key><UploadId>u</UploadId><Initiator><ID>i</ID></Initiator></Upload>';
  const uploads = scanListing(document('ListMultipartUploadsResult', `<Bucket>b</Bucket>${upload}`));
  assert.equal(essence(uploads.entries), [{ name: 'Upload', key: 'k', uploadId: 'u' }]);
});

for (const root of ['GetObjectAttributesResponse', 'getObjectAttributesResponse']) {
  test(`gives the object and the parts of ${root}`, () => {
    const part = '<Part><PartNumber>1</PartNumber><Size>40</Size><ChecksumSHA256>x</ChecksumSHA256></Part>';
    const xml = document(
      root,
      `<ETag>e</ETag><Checksum><ChecksumSHA256>x</ChecksumSHA256></Checksum><ObjectParts>${part}</ObjectParts><ObjectSize>80</ObjectSize>`,
    );
    assert.is(
      refusal(() => scanListing(xml)),
      'InternalError',
      'it is no listing of keys',
    );
    const listing = scanAttributes(xml);
    assert.equal(essence(listing.entries), [
      { name: 'Object', key: '', etag: 'e', size: 80 },
      { name: 'Part', key: '', size: 40, partNumber: 1 },
    ]);
    const written = rewriteListing(listing, ({ size }) => (size ? { size: size - 28 } : undefined));
    assert.is(
      written,
      document(
        root,
        '<ETag>e</ETag><ObjectParts><Part><PartNumber>1</PartNumber><Size>12</Size></Part></ObjectParts><ObjectSize>52</ObjectSize>',
      ),
    );
  });
}

test('decodes keys where the store encoded them', () => {
  const xml = document('ListBucketResult', `${contents('a+b%2Bc%C3%A4')}<EncodingType>url</EncodingType>`);
  assert.is(scanListing(xml).entries[0]?.key, 'a b+cä');
  const plain = document('ListBucketResult', contents('a+b%2B'));
  assert.is(scanListing(plain).entries[0]?.key, 'a+b%2B');
});

test('replaces sizes and ETags, and leaves checksums of ciphertext out', () => {
  const listing = scanListing(document('ListBucketResult', contents('k')));
  const written = rewriteListing(listing, () => ({ size: 2, etag: '"<new>"' }));
  assert.match(written, '<Size>2</Size>');
  assert.match(written, '<ETag>&quot;&lt;new&gt;&quot;</ETag>');
  assert.match(written, '<DisplayName>Size</DisplayName>');
  assert.not.match(written, 'Checksum');
});

test('leaves entries out and corrects the count', () => {
  const prefixes = '<CommonPrefixes><Prefix>.svc/</Prefix></CommonPrefixes>';
  const body = `<KeyCount>3</KeyCount>${contents('.svc/a')}${contents('b')}${prefixes}`;
  const listing = scanListing(document('ListBucketResult', body));
  const written = rewriteListing(listing, ({ key }) =>
    key.startsWith('.svc/') ? { drop: true } : undefined,
  );
  assert.match(written, '<KeyCount>1</KeyCount>');
  assert.not.match(written, '.svc/');
  assert.match(written, '<Key>b</Key>');
});

test('names the key to go on after when the last one of a truncated first ListObjects is left out', () => {
  const body = `<Marker></Marker><IsTruncated>true</IsTruncated>${contents('a')}${contents('b&amp;')}`;
  const last = scanListing(document('ListBucketResult', body));
  const drop = (name: string) => (entry: listings.ListingEntry) =>
    entry.key === name ? ({ drop: true } as const) : undefined;
  assert.match(
    rewriteListing(last, drop('b&')),
    '<IsTruncated>true</IsTruncated><NextMarker>b&amp;</NextMarker>',
  );
  assert.not.match(rewriteListing(last, drop('a')), 'NextMarker');
  const whole = scanListing(document('ListBucketResult', body.replace('true', 'false')));
  assert.not.match(rewriteListing(whole, drop('b&')), 'NextMarker');
  const named = scanListing(document('ListBucketResult', `${body}<NextMarker>b&amp;</NextMarker>`));
  assert.is(rewriteListing(named, drop('b&')).split('<NextMarker>').length, 2);
});

const unreadable: Record<string, string> = {
  'another document': document('Error', '<Code>x</Code>'),
  'a document type': `<!DOCTYPE a [<!ENTITY b "c">]>${document('ListBucketResult', '')}`,
  CDATA: document('ListBucketResult', contents('<![CDATA[k]]>')),
  'a comment': document('ListBucketResult', '<!-- <Contents> -->'),
  'an entity of its own': document('ListBucketResult', contents('&b;')),
  'an ampersand': document('ListBucketResult', contents('a&b')),
  'a cut': document('ListBucketResult', contents('a')).slice(0, -5),
  'crossed tags': document('ListBucketResult', '<Contents><Key>a</Contents></Key>'),
  'text after the end': `${document('ListBucketResult', '')}x`,
  'two roots': document('ListBucketResult', '') + document('ListBucketResult', '').slice(declaration.length),
  'an entry without a key': document('ListBucketResult', '<Contents><Size>1</Size></Contents>'),
  'two keys': document('ListBucketResult', '<Contents><Key>a</Key><Key>b</Key></Contents>'),
  'an element within a key': document('ListBucketResult', '<Contents><Key>a<b/></Key></Contents>'),
  'a size that is none': document('ListBucketResult', '<Contents><Key>a</Key><Size>-1</Size></Contents>'),
  'a tag within an attribute': document('ListBucketResult', '<Contents a="<Key>"><Key>a</Key></Contents>'),
  'great depth': document('ListBucketResult', '<a>'.repeat(20) + '</a>'.repeat(20)),
  'keys that are said to be encoded and are not': document(
    'ListBucketResult',
    `<EncodingType>url</EncodingType>${contents('%zz')}`,
  ),
  nothing: '',
};

for (const [what, xml] of Object.entries(unreadable)) {
  test(`refuses ${what}`, () =>
    assert.is(
      refusal(() => scanListing(xml)),
      'InternalError',
    ));
}

const key = fc
  .string({ unit: 'binary', minLength: 1 })
  .filter((text) => text.isWellFormed() && !text.includes('\0'));
const fields = { key, size: fc.nat(), etag: fc.string({ unit: 'grapheme-ascii' }) };
const entry = fc.record(fields, { noNullPrototype: true });

test('odd keys read back, and a listing written anew reads as what was asked for', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 6 }), fc.boolean(), (given, url) => {
      const shown = (text: string) => (url ? encodeURIComponent(text).replaceAll('%20', '+') : text);
      const entries = given.map(
        (one) =>
          `<Contents>${element('Key', shown(one.key))}${element('ETag', one.etag)}${element('Size', one.size)}</Contents>`,
      );
      const body = `${url ? '<EncodingType>url</EncodingType>' : ''}${entries.join('\n  ')}`;
      const listing = scanListing(document('ListBucketResult', body));
      assert.equal(
        listing.entries.map(({ key: name, etag, size }) => ({ key: name, size, etag })),
        given,
      );
      const written = rewriteListing(listing, ({ size = 0, etag }) =>
        size % 3 === 0 ? { drop: true } : { size: size + 1, etag: `${etag}<&"` },
      );
      assert.equal(
        scanListing(written).entries.map(({ key: name, etag, size }) => ({ key: name, size, etag })),
        given
          .filter(({ size }) => size % 3 !== 0)
          .map((one) => ({ ...one, size: one.size + 1, etag: `${one.etag}<&"` })),
      );
    }),
  );
});

test('whatever the store sends, the answer is a listing or an S3 error', () => {
  const piece = fc.constantFrom(
    ...[
      '<Contents>',
      '</Contents>',
      '<Key>',
      '</Key>',
      '<Key/>',
      '<Size>',
      '</Size>',
      '1',
      '<',
      '>',
      '/',
      '&',
      '"',
    ],
    ...[
      '<ListBucketResult>',
      '</ListBucketResult>',
      '<Checksum>',
      '</Checksum>',
      '<!--',
      '<?xml',
      '?>',
      ' ',
      'a',
    ],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 15 }), (pieces) => {
      try {
        const listing = scanListing(pieces.join(''));
        assert.is(rewriteListing({ ...listing, checksums: [] }, unchanged), pieces.join(''));
      } catch (error) {
        assert.instance(error, S3Error);
      }
    }),
    { numRuns: 3000 },
  );
});

test('refuses entries by the million, and those without a name', () => {
  const many = (one: string, root = 'ListBucketResult', times = 10_001) => document(root, one.repeat(times));
  const keyed = '<Contents><Key>k</Key></Contents>';
  assert.is(
    refusal(() => scanListing(many(keyed))),
    'InternalError',
  );
  assert.is(scanListing(many(keyed, 'ListBucketResult', 10_000)).entries.length, 10_000);
  assert.is(
    refusal(() => scanListing(many('<ChecksumCRC32/>', 'ListPartsResult', 50_001))),
    'InternalError',
  );
  for (const nameless of ['<Part/>', '<Part><Size>1</Size></Part>', '<Contents/>', '<CommonPrefixes/>'])
    assert.is(
      refusal(() => scanListing(many(nameless, 'ListPartsResult', 1))),
      'InternalError',
      nameless,
    );
});

test('refuses what clients may read otherwise: other encodings, prefixes of namespaces', () => {
  const listing = '<ListBucketResult><Contents><Key>k</Key></Contents></ListBucketResult>';
  for (const encoding of ['UTF-16', 'ISO-8859-1', 'utf-7', ''])
    assert.is(
      refusal(() => scanListing(`<?xml version="1.0" encoding='${encoding}'?>${listing}`)),
      'InternalError',
      encoding,
    );
  for (const start of ['<?xml version="1.0"?>', '\uFEFF<?xml version="1.0" encoding="utf-8"?>', '\uFEFF', ''])
    assert.is(scanListing(start + listing).entries.length, 1, start);
  const prefixed = listing.replace('<Contents>', '<s3:Contents>').replace('</Contents>', '</s3:Contents>');
  assert.is(
    refusal(() => scanListing(prefixed)),
    'InternalError',
  );
});

test.run();
