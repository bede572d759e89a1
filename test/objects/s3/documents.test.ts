import fc from 'fast-check';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { errorXml, S3Error, s3Error } from '../../../src/objects/s3/error.ts';
import {
  checkRestoreBody as checkRestore,
  completeMultipartXml,
  deleteObjectsXml,
  parseCompleteMultipart,
  parseDeleteObjects as parseDeletion,
  parsePartNumber,
} from '../../../src/objects/s3/request-documents.ts';
import { scanDocument } from '../../../src/objects/s3/xml-document.ts';
import { escapeXml, unescapeXml } from '../../../src/objects/s3/xml-text.ts';
import { refusal } from './refusals.ts';

const test = suite('documents');

const part = (number: number | string, etag = '"e"') =>
  `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`;
const complete = (...parts: string[]) =>
  `<CompleteMultipartUpload>${parts.join('\n')}</CompleteMultipartUpload>`;

const parsed = (xml: string) => parseCompleteMultipart(Buffer.from(xml));
const parseDeleteObjects = (xml: string) => parseDeletion(Buffer.from(xml));
const checkRestoreBody = (xml: string) => checkRestore(Buffer.from(xml));

test('reads a part list: quotes, entities, checksums, gaps, namespace, declaration', () => {
  const xml = `<?xml version="1.0"?>\n<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
    <Part><ChecksumCRC32>AAAAAA==</ChecksumCRC32><ETag>&quot;a-svc&quot;</ETag><PartNumber>1</PartNumber></Part>
    <Part><PartNumber> 3 </PartNumber><ETag>b</ETag><ChecksumCRC32> </ChecksumCRC32></Part>
    <Part><PartNumber>10000</PartNumber><ETag>&#34;c&#x22;</ETag></Part>
  </CompleteMultipartUpload>`;
  assert.equal(parsed(xml), [
    { partNumber: 1, etag: 'a-svc', named: new Map([['crc32', Buffer.alloc(4)]]) },
    { partNumber: 3, etag: 'b' },
    { partNumber: 10000, etag: 'c' },
  ]);
});

test('reads one part, and the prefix of a namespace', () => {
  assert.equal(parsed(complete(part(7))), [{ partNumber: 7, etag: 'e' }]);
  const prefixed = complete(part(7)).replaceAll('<', '<s3:').replaceAll('<s3:/', '</s3:');
  assert.equal(parsed(prefixed), [{ partNumber: 7, etag: 'e' }]);
});

const badLists: [xml: string, code: string][] = [
  ['', 'MalformedXML'],
  ['<CompleteMultipartUpload/>', 'MalformedXML'],
  [complete(), 'MalformedXML'],
  ['<Other><Part/></Other>', 'MalformedXML'],
  [complete(part(1)).slice(0, -3), 'MalformedXML'],
  [`${complete(part(1))}${complete(part(2))}`, 'MalformedXML'],
  [complete('<Part><PartNumber>1</PartNumber></Part>'), 'MalformedXML'],
  [complete('<Part><ETag>e</ETag></Part>'), 'MalformedXML'],
  [
    complete('<Part><PartNumber>1</PartNumber><PartNumber>2</PartNumber><ETag>e</ETag></Part>'),
    'MalformedXML',
  ],
  [complete(part('one')), 'MalformedXML'],
  [complete(part('1.0')), 'MalformedXML'],
  [complete(part('-1')), 'InvalidArgument'],
  [
    complete(
      part(1).replace(
        '</Part>',
        '<ChecksumCRC32>AAAAAA==</ChecksumCRC32><ChecksumCRC32C>AAAAAA==</ChecksumCRC32C></Part>',
      ),
    ),
    'InvalidArgument',
  ],
  [complete(part(1, '')), 'InvalidPart'],
  [complete(part(1).replace('</Part>', '<ChecksumSHA1>AAAAAA==</ChecksumSHA1></Part>')), 'InvalidArgument'],
  [complete(part(0)), 'InvalidArgument'],
  [complete(part(10001)), 'InvalidPart'],
  [complete(part(2), part(1)), 'InvalidPartOrder'],
  [complete(part(1), part(1)), 'InvalidPartOrder'],
  [complete(part(1, '&own;')), 'MalformedXML'],
  [complete(part(1, '&#xd800;')), 'MalformedXML'],
  [complete(part(1, '&#0;')), 'MalformedXML'],
  [complete(part(1, '<![CDATA[e]]>')), 'MalformedXML'],
  [`<!DOCTYPE a [<!ENTITY own "e">]>${complete(part(1, '&own;'))}`, 'MalformedXML'],
  [complete('<a>'.repeat(30) + '</a>'.repeat(30)), 'MalformedXML'],
  [complete(' '.repeat(9_000_000)), 'MaxMessageLengthExceeded'],
];

for (const [xml, code] of badLists) {
  test(`${code} for ${xml.slice(0, 90).replaceAll('\n', ' ')}`, () => {
    assert.is(
      refusal(() => parsed(xml)),
      code,
    );
  });
}

test('takes 10,000 parts and writes them without checksums, as they read back', () => {
  const parts = Array.from({ length: 10_000 }, (_unused, index) => ({
    partNumber: index + 1,
    etag: `${index}-x`,
  }));
  assert.equal(parseCompleteMultipart(completeMultipartXml(parts)), parts);
});

test('part numbers of queries are strict', () => {
  assert.is(parsePartNumber('10000'), 10_000);
  for (const text of ['', '0', '10001', '1.5', ' 1', '1e2', '0x1']) {
    assert.is(
      refusal(() => parsePartNumber(text)),
      'InvalidArgument',
    );
  }
});

test('reads a deletion with versions, conditions and odd keys', () => {
  const xml = `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Quiet>true</Quiet>
    <Object><Key> a&amp;b&#10;</Key></Object>
    <Object><Key>c</Key><VersionId>v</VersionId><ETag>"e"</ETag></Object></Delete>`;
  assert.equal(parseDeleteObjects(xml), {
    quiet: true,
    objects: [{ key: ' a&b\n' }, { key: 'c', versionId: 'v', etag: '"e"' }],
  });
});

const object = (key: string) => `<Object><Key>${key}</Key></Object>`;
const badDeletions: [xml: string, code: string][] = [
  ['<Delete></Delete>', 'MalformedXML'],
  ['<Delete><Object></Object></Delete>', 'MalformedXML'],
  ['<Delete><Object><Key></Key></Object></Delete>', 'MalformedXML'],
  [`<Delete>${object('k').repeat(1001)}</Delete>`, 'MalformedXML'],
  ['<Delete><Object><Key>k</Key><Size>-1</Size></Object></Delete>', 'MalformedXML'],
];

for (const [xml, code] of badDeletions) {
  test(`${code} for ${xml.slice(0, 60)}`, () =>
    assert.is(
      refusal(() => parseDeleteObjects(xml)),
      code,
    ));
}

const text = fc
  .string({ unit: 'grapheme', minLength: 1 })
  .filter((one) => one.isWellFormed() && !one.includes('\0'));
const clean = text.map((one) => one.replaceAll('\r', ''));

test('a deletion that we write reads back', () => {
  const objects = fc.array(
    fc.record({ key: text, versionId: text }, { noNullPrototype: true, requiredKeys: ['key'] }),
    {
      minLength: 1,
      maxLength: 5,
    },
  );
  fc.assert(
    fc.property(objects, fc.boolean(), (list, quiet) => {
      assert.equal(parseDeleteObjects(deleteObjectsXml({ quiet, objects: list })), { quiet, objects: list });
    }),
  );
});

test('a restore may bring back, and may not select', () => {
  checkRestoreBody('');
  checkRestoreBody(
    '<RestoreRequest><Days>1</Days><GlacierJobParameters><Tier>Bulk</Tier></GlacierJobParameters></RestoreRequest>',
  );
  const select = '<RestoreRequest><Type>SELECT</Type><OutputLocation><S3/></OutputLocation></RestoreRequest>';
  assert.is(
    refusal(() => checkRestoreBody(select)),
    'NotImplemented',
  );
  const output = '<RestoreRequest><s:OutputLocation xmlns:s="x"/></RestoreRequest>';
  assert.is(
    refusal(() => checkRestoreBody(output)),
    'NotImplemented',
  );
  assert.is(
    refusal(() => checkRestoreBody('<Other/>')),
    'MalformedXML',
  );
});

test('a lone surrogate is replaced, a pair stays', () => {
  assert.is(escapeXml('a\ud800b\u{1f600}'), 'a\ufffdb\u{1f600}');
});

test('escaped text reads back, and is well-formed wherever XML can hold it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (one) => {
      const escaped = escapeXml(one);
      assert.is(unescapeXml(escaped), one.includes('\0') ? undefined : one.toWellFormed());
      assert.not.match(escaped, /[<>"']/);
    }),
  );
});

test('a document of ours is read by a parser of others', () => {
  const parser = new XMLParser({ parseTagValue: false, trimValues: false });
  fc.assert(
    fc.property(
      clean.filter((one) => /^[\t\n\x20-\ud7ff\ue000-\ufffd]*$/.test(one) && one.trim() !== ''),
      (one) => {
        const xml = errorXml(s3Error('NoSuchKey', undefined, { details: { Key: one } }), {
          resource: '/b/k',
          requestId: '1',
        });
        assert.is(XMLValidator.validate(xml), true);
        assert.is(parser.parse(xml).Error.Key, one);
      },
    ),
  );
});

test('an error document has the elements of S3', () => {
  const error = s3Error('InvalidArgument', 'a < b', { details: { ArgumentName: 'x&y' } });
  assert.is(error.status, 400);
  assert.is(
    errorXml(error, { resource: '/bucket/"k"', requestId: 'R1' }),
    '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>InvalidArgument</Code><Message>a &lt; b</Message>' +
      '<ArgumentName>x&amp;y</ArgumentName><Resource>/bucket/&quot;k&quot;</Resource><RequestId>R1</RequestId></Error>',
  );
});

test('an error document repeats a few KiB of what the caller sent', () => {
  const details = { ArgumentValue: '&'.repeat(15_000) };
  const xml = errorXml(s3Error('InvalidArgument', '<'.repeat(15_000), { details }), {
    resource: '>'.repeat(15_000),
    requestId: '1',
  });
  assert.ok(xml.length < 64 * 1024, `${xml.length} characters`);
});

test('whatever a caller sends, the answer is a document or an S3 error', () => {
  const piece = fc.constantFrom(
    ...[
      '<a>',
      '</a>',
      '<a/>',
      '<b c="d">',
      '</b>',
      '&',
      '&amp;',
      '&#0;',
      '&#xd800;',
      '<',
      '>',
      '<!--',
      '-->',
      '<?x?>',
    ],
    ...['<__proto__>', '</__proto__>', '<constructor/>', '<toString>', '</toString>', 'text', ' ', '\0'],
  );
  const shape = { root: 'a', entries: ['a'], fields: ['b', 'toString', '__proto__'] };
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
      try {
        scanDocument(Buffer.from(`<a>${pieces.join('')}</a>`), shape);
      } catch (error) {
        assert.instance(error, S3Error);
      }
    }),
    { numRuns: 3000 },
  );
});

test.run();
