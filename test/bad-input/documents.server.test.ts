import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rawHttp } from '../support/raw-http.ts';
import { againstProxy } from './support/target.ts';

const test = suite('XML documents that are not what they should be');
const target = againstProxy(test);

/** What either document may be broken by; `inner` is what is right inside of it. */
const broken = (root: string, inner: string): readonly (readonly [string, string])[] => [
  ['nothing', ''],
  ['no XML', 'not XML'],
  ['JSON', '{"Part":[]}'],
  ['an end that is missing', `<${root}>${inner}`],
  ['tags that cross', `<${root}><a><b></a></b>${inner}</${root}>`],
  ['another root', `<Other>${inner}</Other>`],
  ['two roots', `<${root}>${inner}</${root}><${root}>${inner}</${root}>`],
  ['nothing inside', `<${root}/>`],
  ['a document type', `<!DOCTYPE x><${root}>${inner}</${root}>`],
  [
    'an entity of its own',
    `<!DOCTYPE x [<!ENTITY e "kept">]><${root}>${inner.replace(/kept|\d/, '&e;')}</${root}>`,
  ],
  [
    'an entity from outside',
    `<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><${root}>${inner.replace(/kept|\d/, '&e;')}</${root}>`,
  ],
  ['an entity that nobody declared', `<${root}>${inner.replace(/kept|1/, '&e;')}</${root}>`],
  [
    'a thousand million laughs',
    `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">${'bcdefghi'.replace(/./g, (name, at) => `<!ENTITY ${name} "${`&${'abcdefghi'[at]};`.repeat(10)}">`)}]><${root}>&i;</${root}>`,
  ],
  ['CDATA', `<${root}><![CDATA[${inner}]]></${root}>`],
  ['depth', `<${root}>${'<a>'.repeat(50_000)}${'</a>'.repeat(50_000)}${inner}</${root}>`],
  ['depth without an end', '<a>'.repeat(500_000)],
  ['bytes that are no UTF-8', `<${root}>\xff\xfe${inner}</${root}`],
];

const part = (number: number | string, etag = '"0123456789abcdef0123456789abcdef"') =>
  `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`;
const complete = (...parts: string[]) =>
  `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`;

async function post(path: string, document: string): Promise<string> {
  const url = `${target.at.proxy.url}/bucket${path}`;
  const { status, code } = await rawHttp(url, { method: 'POST', body: Buffer.from(document, 'latin1') });
  return `${status} ${code}`;
}
const postComplete = (document: string) => post(`/${target.at.uploadPath}`, document);
const postDelete = (document: string) => post('?delete', document);

test('CompleteMultipartUpload: broken documents', async () => {
  for (const [label, document] of broken('CompleteMultipartUpload', part(1)))
    assert.is(await postComplete(document), '400 MalformedXML', label);
});

test('CompleteMultipartUpload: a list that is not that of the upload', async () => {
  const { Parts } = target.at.upload;
  const good = part(1, Parts[0]?.ETag);
  const lists: [string, string, string][] = [
    ['another ETag', complete(part(1)), '400 InvalidPart'],
    ['a part nobody sent', complete(good, part(2, Parts[0]?.ETag)), '400 InvalidPart'],
    ['another number', complete(part(2, Parts[0]?.ETag)), '400 InvalidPart'],
    ['descending', complete(part(2), part(1)), '400 InvalidPartOrder'],
    ['repeated', complete(good, good), '400 InvalidPartOrder'],
    ['no number', complete('<Part><ETag>"x"</ETag></Part>'), '400 MalformedXML'],
    ['no ETag', complete('<Part><PartNumber>1</PartNumber></Part>'), '400 MalformedXML'],
    ['an empty ETag', complete(part(1, '')), '400 InvalidPart'],
    [
      'two ETags',
      complete('<Part><PartNumber>1</PartNumber><ETag>a</ETag><ETag>b</ETag></Part>'),
      '400 MalformedXML',
    ],
    ['number 0', complete(part(0)), '400 InvalidArgument'],
    ['number 10,001', complete(part(10_001)), '400 InvalidArgument'],
    ['a negative number', complete(part(-1)), '400 InvalidArgument'],
    ['a number with a fraction', complete(part('1.0')), '400 MalformedXML'],
    ['a number in hexadecimal', complete(part('0x1')), '400 MalformedXML'],
    [
      '10,001 parts',
      complete(...Array.from({ length: 10_001 }, (_, n) => part((n % 10_000) + 1))),
      '400 MalformedXML',
    ],
    ['nine megabytes', complete(good, `<!--${'x'.repeat(9_000_000)}-->`), '400 MaxMessageLengthExceeded'],
  ];
  for (const [label, document, answer] of lists) assert.is(await postComplete(document), answer, label);
});

test('CompleteMultipartUpload: an upload that is not there, or of another key', async () => {
  const list = complete(part(1));
  const { UploadId } = target.at.upload;
  for (const path of [
    '/kept-upload?uploadId=nobody',
    `/other?uploadId=${UploadId}`,
    '/kept-upload?uploadId=..%2F..%2Fx',
    '/kept-upload?uploadId=%00',
    `/kept-upload?uploadId=${'x'.repeat(5000)}`,
  ])
    assert.match(await post(path, list), /^(404 NoSuchUpload|400 [A-Za-z]+)$/, path.slice(0, 60));
});

test('DeleteObjects: broken documents', async () => {
  for (const [label, document] of broken('Delete', '<Object><Key>kept</Key></Object>'))
    assert.is(await postDelete(document), '400 MalformedXML', label);
});

test('DeleteObjects: a list that is not one', async () => {
  const object = (key: string) => `<Object><Key>${key}</Key></Object>`;
  const lists: [string, string, string][] = [
    ['no key', '<Delete><Object></Object></Delete>', '400 MalformedXML'],
    ['an empty key', `<Delete>${object('')}</Delete>`, '400 MalformedXML'],
    ['two keys in one', '<Delete><Object><Key>a</Key><Key>kept</Key></Object></Delete>', '400 MalformedXML'],
    ['1,001 keys', `<Delete>${object('kept').repeat(1001)}</Delete>`, '400 MalformedXML'],
    [
      'nine megabytes',
      `<Delete>${object('kept')}${' '.repeat(9_000_000)}</Delete>`,
      '400 MaxMessageLengthExceeded',
    ],
  ];
  for (const [label, document, answer] of lists) assert.is(await postDelete(document), answer, label);
});

test('DeleteObjects: a wrong digest over the document', async () => {
  const url = `${target.at.proxy.url}/bucket?delete`;
  const body = Buffer.from('<Delete><Object><Key>kept</Key></Object></Delete>');
  for (const headers of [
    { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' },
    { 'x-amz-checksum-crc32': 'AAAAAA==' },
  ]) {
    const { status, code } = await rawHttp(url, { method: 'POST', body, headers });
    assert.is(`${status} ${code}`, '400 BadDigest', JSON.stringify(headers));
  }
});

test('DeleteObjects: keys that climb are refused one by one', async () => {
  const url = `${target.at.proxy.url}/bucket?delete`;
  const body = Buffer.from(
    '<Delete><Object><Key>a/../kept</Key></Object><Object><Key>./kept</Key></Object></Delete>',
  );
  const answer = (await rawHttp(url, { method: 'POST', body })).body.toString();
  assert.not.match(answer, '<Deleted>');
  assert.match(answer, /<Code>Invalid[A-Za-z]*<\/Code>/);
});

test("an object's bytes where configuration is expected never reach the store", async () => {
  const { proxy, rig } = target.at;
  const body = Buffer.from('PLAINTEXT that was meant for an object');
  const sent = async (method: string, path: string) => {
    const { status, code } = await rawHttp(`${proxy.url}/${path}`, { method, body });
    return `${status} ${code}`;
  };
  for (const path of [
    'bucket/kept?acl',
    'bucket/kept?tagging',
    'bucket/kept?retention',
    'bucket?policy',
    'bucket?cors',
    'made',
    'made/',
  ])
    assert.is(
      await sent('PUT', path),
      path === 'bucket?policy' ? '400 MalformedPolicy' : '400 MalformedXML',
      path,
    );
  for (const method of ['OPTIONS', 'DELETE'])
    assert.is.not((await sent(method, 'bucket/kept?tagging')).slice(0, 1), '2', method);
  const buckets = await rig.store.client.send(new ListBucketsCommand({}));
  assert.equal(
    buckets.Buckets?.map(({ Name }) => Name),
    ['bucket'],
  );
});

test.run();
