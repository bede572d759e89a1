import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ObjectStore } from '../support/types.ts';
import { auditStore, stored } from './audit.ts';
import { type Bed, startBed } from './bed.ts';
import { FAITHFUL_KEYS, LONGEST_KEY } from './odd-keys.ts';
import { python } from './python.ts';

/** MinIO takes no umlaut. */
const TAG_VALUES = { versitygw: 'y+ä', minio: 'y+z' };

/** Drives the proxy in front of a store with boto3. */
export function runBoto3(store: ObjectStore['kind']): void {
  const test = suite<{ bed: Bed }>(`boto3, ${store}`);

  test.before(async (context) => {
    context.bed = await startBed({ store });
  });

  test.after(async ({ bed }) => {
    await bed?.stop();
  });

  test('puts and gets, whole and by ranges', async ({ bed }) => {
    await python(
      bed,
      `
for size in (0, 1, 15, 16, 17, 4096, 65536, 1 * MiB + 1):
    body = payload(size)
    etag = put(f'plain/{size}', body)['ETag']
    answer = s3.get_object(Bucket=B, Key=f'plain/{size}')
    same(answer['Body'].read(), body)
    same(answer['ContentLength'], size)
    same(answer['ETag'], etag)
    head = s3.head_object(Bucket=B, Key=f'plain/{size}')
    same((head['ContentLength'], head['ETag']), (size, etag))
body = get('plain/65536')
for text, begin, end in (('0-0', 0, 1), ('5-14', 5, 15), ('65000-', 65000, 65536), ('-100', 65436, 65536), ('65535-99999', 65535, 65536)):
    answer = s3.get_object(Bucket=B, Key='plain/65536', Range=f'bytes={text}')
    same(answer['ResponseMetadata']['HTTPStatusCode'], 206)
    same(answer['ContentRange'], f'bytes {begin}-{end - 1}/65536')
    same(answer['ContentLength'], end - begin)
    same(answer['Body'].read(), body[begin:end])
refused('InvalidRange', s3.get_object, status=416, Key='plain/65536', Range='bytes=65536-')
refused('InvalidRange', s3.get_object, status=416, Key='plain/0', Range='bytes=0-')
refused('NoSuchKey', s3.get_object, status=404, Key='plain/none')
refused('404', s3.head_object, status=404, Key='plain/none')
`,
    );
  });

  test('metadata and content headers come back as sent', async ({ bed }) => {
    await python(
      bed,
      `
sent = dict(ContentType='text/x-odd; charset=utf-8', CacheControl='max-age=60, private', ContentEncoding='gzip',
            ContentDisposition='attachment; filename="a b.txt"', ContentLanguage='de-AT',
            Metadata={'name': 'G%C3%A4rtner', 'encoded': '=?UTF-8?B?w6TDtsO8?=', 'mixed-case': 'Kept As Is', 'empty': ''})
put('meta', payload(100), **sent)
for answer in (s3.head_object(Bucket=B, Key='meta'), s3.get_object(Bucket=B, Key='meta'),
               s3.get_object(Bucket=B, Key='meta', Range='bytes=1-2')):
    for name, value in sent.items():
        if name != 'Metadata': same(answer[name], value, name)
    for name, value in sent['Metadata'].items():
        same(answer['Metadata'].get(name), value, name)
put('meta-default', b'x')
same(s3.head_object(Bucket=B, Key='meta-default')['ContentType'], 'binary/octet-stream')
put('meta-forged', payload(10), Metadata={'svc-encrypted': 'false', 'svc-wrapped-dek': 'vault:v1:AAAA', 'own': 'yes'})
same(get('meta-forged'), MARKER[:10])
same(s3.head_object(Bucket=B, Key='meta-forged')['Metadata']['own'], 'yes')
answer = s3.get_object(Bucket=B, Key='meta', ResponseContentType='text/other', ResponseCacheControl='no-store')
same((answer['ContentType'], answer['CacheControl']), ('text/other', 'no-store'))
`,
    );
    const { Metadata } = await stored(bed, 'meta-forged');
    assert.is(Metadata?.['svc-encrypted'], 'true');
  });

  test('conditions hold', async ({ bed }) => {
    await python(
      bed,
      `
import datetime
body = payload(500)
etag = put('condition', body)['ETag']
refused('304', s3.get_object, status=304, Key='condition', IfNoneMatch=etag)
refused('304', s3.head_object, status=304, Key='condition', IfNoneMatch=etag)
refused('PreconditionFailed', s3.get_object, status=412, Key='condition', IfMatch='"other"')
refused('412', s3.head_object, status=412, Key='condition', IfMatch='"other"')
same(get('condition', IfMatch=etag), body)
same(get('condition', IfNoneMatch='"other"'), body)
same(get('condition', IfMatch=etag, Range='bytes=3-9'), body[3:10])
modified = s3.head_object(Bucket=B, Key='condition')['LastModified']
later, earlier = modified + datetime.timedelta(hours=1), modified - datetime.timedelta(hours=1)
import time; time.sleep(1.1)
second = modified + datetime.timedelta(seconds=1)  # versitygw compares with the fraction of the second that it keeps
refused('304', s3.get_object, status=304, Key='condition', IfModifiedSince=second)
refused('304', s3.head_object, status=304, Key='condition', IfModifiedSince=second)
same(get('condition', IfModifiedSince=earlier), body)
refused('PreconditionFailed', s3.get_object, status=412, Key='condition', IfUnmodifiedSince=earlier)
same(get('condition', IfUnmodifiedSince=later), body)
refused('PreconditionFailed', s3.put_object, status=412, Key='condition', Body=payload(5), IfNoneMatch='*')
refused('PreconditionFailed', s3.put_object, status=412, Key='condition', Body=payload(5), IfMatch='"11111111111111111111111111111111"')
same(get('condition'), body)
put('condition-new', body, IfNoneMatch='*')
same(get('condition-new'), body)
etag2 = put('condition', body[:40], IfMatch=etag)['ETag']
same(get('condition', IfMatch=etag2), body[:40])
`,
    );
  });

  test('a wrong checksum is refused and the old object stays', async ({ bed }) => {
    await python(
      bed,
      `
old, new = payload(70000), payload(90000)
put('checked', old)
md5 = base64.b64encode(hashlib.md5(b'other').digest()).decode()
refused('BadDigest', s3.put_object, status=400, Key='checked', Body=new, ContentMD5=md5)
refused('InvalidDigest', s3.put_object, status=400, Key='checked', Body=new, ContentMD5='short')
wrong = base64.b64encode(b'abcd').decode()
for arguments in ({'ChecksumCRC32': wrong}, {'ChecksumSHA256': base64.b64encode(bytes(32)).decode()},
                  {'ChecksumSHA1': base64.b64encode(bytes(20)).decode()}):
    refused('BadDigest|XAmzContentChecksumMismatch', s3.put_object, status=400, Key='checked', Body=new, **arguments)
same(get('checked'), old)
refused('BadDigest|XAmzContentChecksumMismatch', s3.put_object, status=400, Key='checked-none', Body=new, ChecksumCRC32=wrong)
refused('404', s3.head_object, Key='checked-none')
right = base64.b64encode(zlib.crc32(new).to_bytes(4, 'big')).decode()
put('checked', new, ChecksumCRC32=right)
same(get('checked'), new)
put('checked', old, ContentMD5=base64.b64encode(hashlib.md5(old).digest()).decode())
same(get('checked'), old)
for algorithm in ('CRC32', 'SHA1', 'SHA256'):
    put('checked', new, ChecksumAlgorithm=algorithm)
    same(get('checked', ChecksumMode='ENABLED'), new)
same(get('checked', ChecksumMode='ENABLED', Range='bytes=10-20'), new[10:21])
same(get('checked', ChecksumMode='ENABLED', Range='bytes=0-89999'), new)
`,
    );
  });

  test('odd keys are put, read, listed and deleted', async ({ bed }) => {
    const keys = JSON.stringify([...FAITHFUL_KEYS[store], LONGEST_KEY.slice(0, -4)]);
    await python(
      bed,
      `
keys = ['odd/' + key for key in json.loads(sys.stdin.read())]
for key in keys:
    put(key, payload(300) + key.encode(), Metadata={'k': 'v'})
for key in keys:
    same(get(key)[300:], key.encode(), key)
    same(s3.head_object(Bucket=B, Key=key)['Metadata']['k'], 'v', key)
    page = s3.list_objects_v2(Bucket=B, Prefix=key)['Contents']
    same([(o['Key'], o['Size']) for o in page if o['Key'] == key], [(key, 300 + len(key.encode()))], key)
listed = [o['Key'] for page in s3.get_paginator('list_objects_v2').paginate(Bucket=B, Prefix='odd/') for o in page['Contents']]
same(sorted(listed), sorted(keys))
copies = [f'odd/copy-{n}' for n in range(len(keys))]
for key, copy in zip(keys, copies):
    s3.copy_object(Bucket=B, Key=copy, CopySource={'Bucket': B, 'Key': key})
    same(get(copy)[300:], key.encode(), key)
everything = [{'Key': key} for key in keys + copies]
answer = s3.delete_objects(Bucket=B, Delete={'Objects': everything})
same(answer.get('Errors', []), [])
same(len(answer['Deleted']), len(everything))
same(s3.list_objects_v2(Bucket=B, Prefix='odd/').get('KeyCount'), 0)
`,
      { input: keys },
    );
  });

  test('listings page, fold and show plaintext sizes with the ETags of everywhere else', async ({ bed }) => {
    await python(
      bed,
      `
sizes = {f'list/{folder}/{n}': n * 1000 + 7 for folder in ('a', 'b', 'c') for n in range(4)}
sizes.update({f'list/{n}': n for n in range(3)})
etags = {key: put(key, payload(size))['ETag'] for key, size in sizes.items()}
def collected(operation, **arguments):
    pages = list(s3.get_paginator(operation).paginate(Bucket=B, Prefix='list/', **arguments))
    return ([o for page in pages for o in page.get('Contents', [])],
            [p['Prefix'] for page in pages for p in page.get('CommonPrefixes', [])], len(pages))
for operation in ('list_objects', 'list_objects_v2'):
    for turn in range(2):
        objects, folders, pages = collected(operation, PaginationConfig={'PageSize': 4})
        same({o['Key']: o['Size'] for o in objects}, sizes, operation)
        same({o['Key']: o['ETag'] for o in objects}, etags, operation)
        assert pages >= 4, pages
        objects, folders, pages = collected(operation, Delimiter='/', PaginationConfig={'PageSize': 2})
        same(sorted(o['Key'] for o in objects), ['list/0', 'list/1', 'list/2'])
        same(sorted(folders), ['list/a/', 'list/b/', 'list/c/'])
for key, etag in etags.items():
    same(s3.head_object(Bucket=B, Key=key)['ETag'], etag)
    assert etag.startswith('"') and etag.endswith('-svc"'), etag
everything = s3.list_objects_v2(Bucket=B, StartAfter='list/b/2')
same(all(o['Key'] > 'list/b/2' for o in everything['Contents']), True)
same([o['Key'] for o in s3.list_objects_v2(Bucket=B, Prefix='.svc/').get('Contents', [])], [])
same([p['Prefix'] for p in s3.list_objects_v2(Bucket=B, Delimiter='/')['CommonPrefixes'] if p['Prefix'].startswith('.svc')], [])
versions = s3.list_object_versions(Bucket=B, Prefix='list/').get('Versions', [])
same({v['Key']: v['Size'] for v in versions}, sizes)
attributes = s3.get_object_attributes(Bucket=B, Key='list/a/3', ObjectAttributes=['ObjectSize', 'ETag'])
same((attributes['ObjectSize'], attributes['ETag'].strip('"')), (3007, etags['list/a/3'].strip('"')))
`,
    );
  });

  test('copies keep or replace metadata and stay readable', async ({ bed }) => {
    await python(
      bed,
      `
body = payload(20000)
put('copy-source', body, ContentType='text/a', CacheControl='no-cache', Metadata={'one': '1'})
source = {'Bucket': B, 'Key': 'copy-source'}
s3.copy_object(Bucket=B, Key='copy-kept', CopySource=source)
answer = s3.get_object(Bucket=B, Key='copy-kept')
same((answer['ContentType'], answer['CacheControl'], answer['Metadata'].get('one')), ('text/a', 'no-cache', '1'))
same(answer['Body'].read(), body)
s3.copy_object(Bucket=B, Key='copy-replaced', CopySource=source, MetadataDirective='REPLACE', ContentType='text/b', Metadata={'two': '2'})
answer = s3.get_object(Bucket=B, Key='copy-replaced')
same((answer['ContentType'], answer.get('CacheControl'), answer['Metadata'].get('two'), answer['Metadata'].get('one')), ('text/b', None, '2', None))
same(answer['Body'].read(), body)
s3.copy_object(Bucket=B, Key='copy-source', CopySource=source, MetadataDirective='REPLACE', ContentType='text/c')
same(get('copy-source'), body)
same(s3.head_object(Bucket=B, Key='copy-source')['ContentType'], 'text/c')
refused('InvalidRequest', s3.copy_object, Key='copy-source', CopySource=source)
refused('PreconditionFailed', s3.copy_object, status=412, Key='copy-kept', CopySource=source, CopySourceIfMatch='"no"')
refused('NoSuchKey', s3.copy_object, Key='copy-kept', CopySource={'Bucket': B, 'Key': 'copy-none'})
etag = s3.head_object(Bucket=B, Key='copy-source')['ETag']
result = s3.copy_object(Bucket=B, Key='copy-kept', CopySource=source, CopySourceIfMatch=etag)['CopyObjectResult']['ETag']
same(s3.head_object(Bucket=B, Key='copy-kept')['ETag'], result)
same(get('copy-kept', IfMatch=result), body)
`,
    );
  });

  test('tags, ACLs and buckets pass through', async ({ bed }) => {
    await python(
      bed,
      `
VALUE = '${TAG_VALUES[store]}'
put('tagged', payload(50), Tagging='colour=deep%20blue&n=1')
tags = lambda: {t['Key']: t['Value'] for t in s3.get_object_tagging(Bucket=B, Key='tagged')['TagSet']}
same(tags(), {'colour': 'deep blue', 'n': '1'})
same(s3.get_object(Bucket=B, Key='tagged')['TagCount'], 2)
s3.put_object_tagging(Bucket=B, Key='tagged', Tagging={'TagSet': [{'Key': 'x', 'Value': VALUE}]})
same(tags(), {'x': VALUE})
s3.copy_object(Bucket=B, Key='tagged-copy', CopySource={'Bucket': B, 'Key': 'tagged'})
same(s3.get_object_tagging(Bucket=B, Key='tagged-copy')['TagSet'], [{'Key': 'x', 'Value': VALUE}])
s3.delete_object_tagging(Bucket=B, Key='tagged')
same(tags(), {})
assert s3.get_bucket_acl(Bucket=B)['Grants']
s3.put_bucket_tagging(Bucket=B, Tagging={'TagSet': [{'Key': 'team', 'Value': 'a'}]})
same(s3.get_bucket_tagging(Bucket=B)['TagSet'], [{'Key': 'team', 'Value': 'a'}])
s3.create_bucket(Bucket='second')
same(sorted(b['Name'] for b in s3.list_buckets()['Buckets']), [B, 'second'])
s3.head_bucket(Bucket='second')
s3.copy_object(Bucket='second', Key='from-box', CopySource={'Bucket': B, 'Key': 'tagged'})
same(len(s3.get_object(Bucket='second', Key='from-box')['Body'].read()), 50)
s3.delete_object(Bucket='second', Key='from-box')
s3.delete_bucket(Bucket='second')
same(s3.get_bucket_location(Bucket=B)['ResponseMetadata']['HTTPStatusCode'], 200)
`,
    );
  });

  test('deletes one and many; helper objects are out of reach', async ({ bed }) => {
    await python(
      bed,
      `
for n in range(30): put(f'gone/{n}', payload(10))
s3.delete_object(Bucket=B, Key='gone/0')
refused('NoSuchKey', s3.get_object, Key='gone/0')
answer = s3.delete_objects(Bucket=B, Delete={'Objects': [{'Key': f'gone/{n}'} for n in range(1, 30)], 'Quiet': True})
same(answer.get('Errors', []), [])
same(s3.list_objects_v2(Bucket=B, Prefix='gone/')['KeyCount'], 0)
for call in (s3.get_object, s3.head_object, s3.delete_object):
    try:
        call(Bucket=B, Key='.svc/manifests/x')
    except ClientError as error:
        assert error.response['ResponseMetadata']['HTTPStatusCode'] in (403, 400), error
    else:
        raise AssertionError('a helper key was served')
errors = s3.delete_objects(Bucket=B, Delete={'Objects': [{'Key': '.svc/x'}]}).get('Errors', [])
same([e['Key'] for e in errors], ['.svc/x'])
`,
    );
  });

  test('the store holds ciphertext only', ({ bed }) => auditStore(bed));

  test.run();
}
