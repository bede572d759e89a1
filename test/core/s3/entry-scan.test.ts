import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { childText, parseXml } from '../../../src/core/s3/xml.ts';
import { type EntryTexts, scanEntries } from '../../../src/core/s3/xml-text.ts';

const test = suite('lists without a tree');

const shape = { root: 'CompleteMultipartUpload', entries: ['Part'], fields: ['PartNumber', 'ETag'] };

const scanParts = (xml: string) =>
  scanEntries(Buffer.from(xml), shape)?.entries.map((entry) => ({
    number: entry.get('PartNumber'),
    etag: entry.get('ETag'),
  }));

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const root = (parts: string) =>
  `<?xml version="1.0"?>\n<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts}</CompleteMultipartUpload>`;
const part = (inner: string) => `\n  <Part>${inner}</Part>`;

/** The same by way of the parser; undefined for what it refuses. */
function parsed(xml: string) {
  try {
    const tree = parseXml(xml, 'CompleteMultipartUpload', 1 << 20);
    return (tree.children.get('Part') ?? []).map((element) => ({
      number: childText(element, 'PartNumber'),
      etag: childText(element, 'ETag'),
    }));
  } catch {
    return undefined;
  }
}

test('numbers and ETags are read as written, other fields are passed over', () => {
  const text = root(
    part('<ETag>&quot;a&#38;b&quot;</ETag><PartNumber>1</PartNumber><ChecksumCRC32>x==</ChecksumCRC32>') +
      part('<PartNumber> 2 </PartNumber><ETag/>'),
  );
  assert.equal(scanParts(text), [
    { number: '1', etag: '"a&b"' },
    { number: ' 2 ', etag: '' },
  ]);
});

for (const [what, xml] of Object.entries({
  'another root': '<Delete><Part><PartNumber>1</PartNumber></Part></Delete>',
  'a field twice': root(part('<ETag>a</ETag><ETag>b</ETag>')),
  'a nested field': root(part('<ETag><ETag>a</ETag></ETag>')),
  'an unknown entity': root(part('<ETag>&x;</ETag>')),
  'a comment': root(`<!-- x -->${part('<ETag>a</ETag>')}`),
  'a document type': `<!DOCTYPE x>${root('')}`,
  'a name with a prefix': root(part('<s3:ETag>a</s3:ETag>')),
  'a part outside the list': `${root('')}<Part/>`,
})) {
  test(`${what} is left to the parser`, () => {
    assert.is(scanParts(xml), undefined);
  });
}

test('what stands beside the entries is read too, and what is not asked for is passed over', () => {
  const listing = { root: 'List', entries: ['A', 'B'], fields: ['Key', 'More'] };
  const text =
    '<List><More>yes</More><A><Key>1</Key><Owner><Key>x</Key></Owner></A><C><Key>2</Key></C><B/></List>';
  const { top, entries } = scanEntries(Buffer.from(text), listing) ?? { entries: [] };
  const fieldsOf = (texts?: EntryTexts) => listing.fields.map((field) => texts?.get(field));
  assert.equal(fieldsOf(top), [undefined, 'yes']);
  assert.equal(entries.map(fieldsOf), [
    ['1', undefined],
    [undefined, undefined],
  ]);
});

test('the scan and the parser read lists alike', () => {
  const field = fc.oneof(
    fc.nat(20_000).map((number) => `<PartNumber>${number}</PartNumber>`),
    fc.string({ maxLength: 20 }).map((etag) => `<ETag>${escaped(etag)}</ETag>`),
    fc.base64String().map((sum) => `<ChecksumSHA256>${sum}</ChecksumSHA256>`),
  );
  const list = fc.array(
    fc.array(field, { maxLength: 4 }).map((fields) => part(fields.join(''))),
    { maxLength: 5 },
  );
  let both = 0;
  fc.assert(
    fc.property(list, (parts) => {
      const xml = root(parts.join(''));
      const scanned = scanParts(xml);
      if (scanned === undefined) return;
      both += 1;
      assert.equal(scanned, parsed(xml));
    }),
  );
  assert.ok(both > 10);
});

test('a document with a byte changed is read as the parser reads it, as it was, or not at all', () => {
  const xml = root(part('<PartNumber>1</PartNumber><ETag>"a"</ETag>') + part('<PartNumber>2</PartNumber>'));
  const unchanged = scanParts(xml);
  for (let at = 0; at < xml.length; at++) {
    for (const byte of '<>/&;"\' \u0000aP') {
      const changed = xml.slice(0, at) + byte + xml.slice(at + 1);
      const scanned = scanParts(changed);
      // What the parser refuses between the elements changes no part.
      if (scanned !== undefined) assert.equal(scanned, parsed(changed) ?? unchanged, changed);
    }
  }
});

test.run();
