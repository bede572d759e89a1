import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Classified, classify } from '../../../src/objects/s3/operation.ts';
import { parseTarget } from '../../../src/objects/s3/request.ts';

const test = suite('operations');

function classified(line: string, headers: Record<string, string> = {}): Classified {
  const [method = '', target = ''] = line.split(' ');
  return classify({ method, headers, ...parseTarget(target, undefined) });
}

const names: Record<string, string> = {
  'GET /': 'ListBuckets',
  'HEAD /': 'PassThrough',
  'POST /': 'Refused',
  'PUT /': 'Refused',
  'GET /bucket': 'ListObjects',
  'GET /bucket?prefix=a&delimiter=/': 'ListObjects',
  'GET /bucket?list-type=2': 'ListObjectsV2',
  'GET /bucket?list-type=2&x-id=ListObjectsV2': 'ListObjectsV2',
  'GET /bucket?versions': 'ListObjectVersions',
  'GET /bucket?uploads': 'ListMultipartUploads',
  'GET /bucket?location': 'PassThrough',
  'GET /bucket?policy': 'PassThrough',
  'GET /bucket?session': 'Refused',
  'HEAD /bucket': 'PassThrough',
  'PUT /bucket': 'PassThrough',
  'DELETE /bucket': 'DeleteBucket',
  'PUT /bucket?lifecycle': 'PassThrough',
  'PUT /bucket?inventory&id=x': 'PassThrough',
  'PUT /bucket?unknown': 'Refused',
  'PUT /bucket?acl&append': 'Refused',
  'PUT /bucket?metadataTable': 'Refused',
  'DELETE /bucket?cors': 'PassThrough',
  'DELETE /bucket?unknown': 'Refused',
  'POST /bucket': 'Refused',
  'POST /bucket?delete': 'DeleteObjects',
  'POST /bucket?metadataConfiguration': 'Refused',
  'POST /WriteGetObjectResponse': 'Refused',
  'PATCH /bucket': 'Refused',
  'PUT /bucket/key': 'PutObject',
  'PUT /bucket/key?x-id=PutObject': 'PutObject',
  'PUT /bucket/key?partNumber=1&uploadId=u': 'UploadPart',
  'PUT /bucket/key?partNumber=1': 'Refused',
  'PUT /bucket/key?uploadId=u': 'Refused',
  'PUT /bucket/key?acl': 'PassThrough',
  'PUT /bucket/key?tagging&versionId=v': 'PassThrough',
  'PUT /bucket/key?retention': 'PassThrough',
  'PUT /bucket/key?legal-hold': 'PassThrough',
  'PUT /bucket/key?acl&uploadId=u': 'Refused',
  'PUT /bucket/key?acl&append': 'Refused',
  'PUT /bucket/key?renameObject': 'Refused',
  'PUT /bucket/key?append&position=0': 'Refused',
  'PUT /bucket/key?encryption': 'Refused',
  'PUT /bucket/key?versionId=v': 'Refused',
  'PUT /bucket/key?uploadId=a&uploadId=b&partNumber=1': 'Refused',
  'POST /bucket/key?uploads': 'CreateMultipartUpload',
  'POST /bucket/key?uploadId=u': 'CompleteMultipartUpload',
  'POST /bucket/key?uploads&uploadId=u': 'Refused',
  'POST /bucket/key?restore': 'PassThrough',
  'POST /bucket/key?select&select-type=2': 'Refused',
  'POST /bucket/key?restore&select': 'Refused',
  'POST /bucket/key': 'Refused',
  'GET /bucket/key': 'GetObject',
  'GET /bucket/key?versionId=v&partNumber=2': 'GetObject',
  'GET /bucket/key?response-content-type=a': 'GetObject',
  'GET /bucket/key?uploadId=u': 'ListParts',
  'GET /bucket/key?attributes': 'GetObjectAttributes',
  'GET /bucket/key?acl': 'PassThrough',
  'GET /bucket/key?torrent': 'Refused',
  'HEAD /bucket/key': 'HeadObject',
  'DELETE /bucket/key': 'DeleteObject',
  'DELETE /bucket/key?versionId=v': 'DeleteObject',
  'DELETE /bucket/key?uploadId=u': 'AbortMultipartUpload',
  'DELETE /bucket/key?tagging': 'PassThrough',
  'DELETE /bucket/key?unknown': 'Refused',
  'OPTIONS /bucket/key': 'PassThrough',
  'PATCH /bucket/key': 'Refused',
};

for (const [line, name] of Object.entries(names)) {
  test(`${line} is ${name}`, () => assert.is(classified(line).name, name));
}

const copySource = { 'x-amz-copy-source': 'bucket/other' };

test('a copy source makes a copy', () => {
  assert.is(classified('PUT /bucket/key', copySource).name, 'CopyObject');
  assert.is(classified('PUT /bucket/key', { ...copySource, 'content-length': '0' }).name, 'CopyObject');
  assert.is(classified('PUT /bucket/key?partNumber=1&uploadId=u', copySource).name, 'UploadPartCopy');
});

const code = (result: Classified) => (result.name === 'Refused' ? result.error.code : result.name);

test('a copy with a body is refused', () => {
  assert.is(code(classified('PUT /bucket/key', { ...copySource, 'content-length': '1' })), 'InvalidRequest');
  assert.is(
    code(classified('PUT /bucket/key', { ...copySource, 'transfer-encoding': 'chunked' })),
    'InvalidRequest',
  );
});

for (const header of [
  'x-amz-write-offset-bytes',
  'x-amz-rename-source',
  'x-amz-meta-snowball-auto-extract',
]) {
  test(`a PUT with ${header} is refused, in the header and in the query`, () => {
    assert.is(code(classified('PUT /bucket/key', { [header]: '0' })), 'NotImplemented');
    const { hoisted, ...target } = parseTarget(`/bucket/key?${header}=0`, undefined);
    assert.is(code(classify({ method: 'PUT', ...target, headers: hoisted })), 'NotImplemented');
  });
}

test('a condition on the size is one of the deletion of an object alone', () => {
  const size = { 'x-amz-if-match-size': '1' };
  assert.equal(classified('DELETE /bucket/key', size), { name: 'DeleteObject' });
  assert.is(code(classified('DELETE /bucket/key?tagging', size)), 'NotImplemented');
});

test('a restore is marked for a look into its body', () => {
  assert.equal(classified('POST /bucket/key?restore'), { name: 'PassThrough', bodyCheck: 'restore' });
});

const encrypting = new Set(['PutObject', 'UploadPart', 'CopyObject', 'UploadPartCopy']);
const withoutData = new Set(['CreateMultipartUpload', 'CompleteMultipartUpload']);
const configuration = new Set(['acl', 'tagging', 'retention', 'legal-hold', 'restore']);

test('whatever would write to an object encrypts, carries no data, is configuration, or is refused', () => {
  const name = fc.oneof(
    fc.constantFrom(
      ...[
        'acl',
        'tagging',
        'retention',
        'legal-hold',
        'restore',
        'uploads',
        'uploadId',
        'partNumber',
        'select',
      ],
      ...[
        'append',
        'position',
        'renameObject',
        'versionId',
        'x-id',
        'torrent',
        'encryption',
        'lambdaArn',
        'delete',
      ],
    ),
    fc.stringMatching(/^[a-zA-Z-]{1,10}$/),
  );
  const header = fc.constantFrom(
    'x-amz-copy-source',
    'x-amz-write-offset-bytes',
    'content-length',
    'content-type',
  );
  fc.assert(
    fc.property(
      fc.constantFrom('PUT', 'POST', 'PATCH', 'MOVE', 'COPY', 'put'),
      fc.array(fc.tuple(name, fc.constantFrom('', '1')), { maxLength: 4 }),
      fc.dictionary(header, fc.constantFrom('0', '1'), { maxKeys: 3 }),
      (method, entries, headers) => {
        const raw = entries.map(([field, value]) => `${field}=${value}`).join('&');
        const result = classify({ method, headers, ...parseTarget(`/bucket/key?${raw}`, undefined) });
        const given = new Set(entries.map(([field]) => field));
        if (result.name === 'PassThrough') {
          const kind = [...given].filter((field) => field !== 'versionId' && field !== 'x-id');
          assert.is(kind.length, 1);
          assert.ok(configuration.has(kind[0] ?? ''), `${method} ${raw}`);
          assert.is(result.bodyCheck, kind[0] === 'restore' ? 'restore' : undefined);
        } else if (result.name !== 'Refused') {
          assert.ok(
            encrypting.has(result.name) || withoutData.has(result.name),
            `${method} ${raw}: ${result.name}`,
          );
          assert.is(headers['x-amz-write-offset-bytes'] === undefined || withoutData.has(result.name), true);
        }
      },
    ),
    { numRuns: 5000 },
  );
});

test.run();
