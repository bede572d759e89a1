import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { auditStore, helperKeys, stored } from './audit.ts';
import { type Bed, startBed } from './bed.ts';
import { python } from './python.ts';

const test = suite<{ bed: Bed }>('boto3, multipart');

const HELPERS = `
def create(key, **arguments):
    return s3.create_multipart_upload(Bucket=B, Key=key, **arguments)['UploadId']
def part(key, upload, number, body, **arguments):
    etag = s3.upload_part(Bucket=B, Key=key, UploadId=upload, PartNumber=number, Body=body, **arguments)['ETag']
    return {'PartNumber': number, 'ETag': etag}
def complete(key, upload, parts, **arguments):
    return s3.complete_multipart_upload(Bucket=B, Key=key, UploadId=upload, MultipartUpload={'Parts': parts}, **arguments)
def listed(key):
    return [(o['Size'], o['ETag']) for o in s3.list_objects_v2(Bucket=B, Prefix=key)['Contents'] if o['Key'] == key]
`;
const run = (bed: Bed, script: string) => python(bed, HELPERS + script);

test.before(async (context) => {
  context.bed = await startBed();
});

test.after(async ({ bed }) => {
  await bed?.stop();
});

test('a managed transfer goes up in parts and comes back by ranges', async ({ bed }) => {
  await run(
    bed,
    `
body = payload(33 * MiB + 12345)
config = TransferConfig(multipart_threshold=5 * MiB, multipart_chunksize=5 * MiB, max_concurrency=4)
s3.upload_fileobj(io.BytesIO(body), B, 'managed', Config=config, ExtraArgs={
    'Metadata': {'a': 'b'}, 'ContentType': 'text/m', 'CacheControl': 'no-cache'})
head = s3.head_object(Bucket=B, Key='managed')
same((head['ContentLength'], head['ContentType'], head['CacheControl'], head['Metadata']['a']), (len(body), 'text/m', 'no-cache', 'b'))
target = io.BytesIO()
s3.download_fileobj(B, 'managed', target, Config=config)
same(hashlib.sha256(target.getvalue()).digest(), hashlib.sha256(body).digest())
same(hashlib.sha256(get('managed', ChecksumMode='ENABLED')).digest(), hashlib.sha256(body).digest())
for begin, end in ((0, 0), (5 * MiB - 1, 5 * MiB), (4 * MiB, 17 * MiB), (len(body) - 7, len(body) - 1)):
    answer = s3.get_object(Bucket=B, Key='managed', Range=f'bytes={begin}-{end}', ChecksumMode='ENABLED')
    same(answer['ContentRange'], f'bytes {begin}-{end}/{len(body)}')
    same(hashlib.sha256(answer['Body'].read()).digest(), hashlib.sha256(body[begin:end + 1]).digest())
same(get('managed', Range='bytes=-9'), body[-9:])
etag = head['ETag']
same(s3.get_object(Bucket=B, Key='managed')['ETag'], etag)
same(listed('managed'), [(len(body), etag)])
refused('304', s3.get_object, status=304, Key='managed', IfNoneMatch=etag)
`,
  );
  const raw = await stored(bed, 'managed');
  assert.is(raw.ContentLength, 33 * 1024 * 1024 + 12345 + 7 * 28);
});

test('a managed transfer is compared with the checksum of the whole that it is given', async ({ bed }) => {
  await run(
    bed,
    `
body = payload(17 * MiB + 5)
config = TransferConfig(multipart_threshold=5 * MiB, multipart_chunksize=5 * MiB)
def crc(data):
    return base64.b64encode(zlib.crc32(data).to_bytes(4, 'big')).decode()
def transfer(key, sum):
    s3.upload_fileobj(io.BytesIO(body), B, key, Config=config, ExtraArgs={'ChecksumCRC32': sum})
transfer('summed', crc(body))
same(get('summed'), body)
try:
    transfer('wrongly-summed', crc(body[1:]))
    raise AssertionError('not refused')
except boto3.exceptions.S3UploadFailedError as error:
    assert 'BadDigest' in str(error), error
except ClientError as error:
    same(error.response['Error']['Code'], 'BadDigest')
refused('404', s3.head_object, status=404, Key='wrongly-summed')
same(s3.list_multipart_uploads(Bucket=B).get('Uploads', []), [])
`,
  );
});

test('parts out of order, with gaps, uploaded twice; listed with plaintext sizes', async ({ bed }) => {
  await run(
    bed,
    `
key, upload = 'gaps', create('gaps', Metadata={'m': '1'}, ContentType='text/gap')
bodies = {number: payload(5 * MiB + number) for number in (2, 7, 9000)}
last = payload(77)
parts = {}
for number in (9000, 2, 7):
    parts[number] = part(key, upload, number, bodies[number])
parts[10000] = part(key, upload, 10000, last)
first = part(key, upload, 7, payload(5 * MiB))
parts[7] = part(key, upload, 7, bodies[7])
answer = s3.list_parts(Bucket=B, Key=key, UploadId=upload)
same([(p['PartNumber'], p['Size'], p['ETag']) for p in answer['Parts']],
     [(n, len(b), parts[n]['ETag']) for n, b in {**bodies, 10000: last}.items()])
page = s3.list_parts(Bucket=B, Key=key, UploadId=upload, MaxParts=2)
same(([p['PartNumber'] for p in page['Parts']], page['IsTruncated'], page['NextPartNumberMarker']), ([2, 7], True, 7))
uploads = s3.list_multipart_uploads(Bucket=B).get('Uploads', [])
same([(u['Key'], u['UploadId']) for u in uploads], [(key, upload)])
ordered = [parts[n] for n in sorted(parts)]
refused('InvalidPart', s3.complete_multipart_upload, status=400, Key=key, UploadId=upload,
        MultipartUpload={'Parts': [{'PartNumber': 2, 'ETag': parts[2]['ETag']}, {'PartNumber': 7, 'ETag': '"11111111111111111111111111111111"'}]})
refused('InvalidPartOrder', s3.complete_multipart_upload, status=400, Key=key, UploadId=upload, MultipartUpload={'Parts': ordered[::-1]})
done = complete(key, upload, ordered)
same(complete(key, upload, ordered)['ETag'], done['ETag'])
whole = b''.join(bodies[n] for n in (2, 7, 9000)) + last
same(hashlib.sha256(get(key)).digest(), hashlib.sha256(whole).digest())
head = s3.head_object(Bucket=B, Key=key)
same((head['ContentLength'], head['ETag'], head['Metadata']['m'], head['ContentType']), (len(whole), done['ETag'], '1', 'text/gap'))
same(listed(key), [(len(whole), done['ETag'])])
same(s3.list_multipart_uploads(Bucket=B).get('Uploads', []), [])
`,
  );
});

test('single parts are read by their number', async ({ bed }) => {
  await run(
    bed,
    `
key, upload = 'numbered', create('numbered')
bodies = [payload(5 * MiB), payload(5 * MiB + 9), payload(3)]
complete(key, upload, [part(key, upload, n, b) for n, b in enumerate(bodies, 1)])
for n, body in enumerate(bodies, 1):
    answer = s3.get_object(Bucket=B, Key=key, PartNumber=n)
    same(answer['ResponseMetadata']['HTTPStatusCode'], 206)
    same((answer['PartsCount'], answer['ContentLength']), (3, len(body)))
    same(hashlib.sha256(answer['Body'].read()).digest(), hashlib.sha256(body).digest())
    head = s3.head_object(Bucket=B, Key=key, PartNumber=n)
    same((head['PartsCount'], head['ContentLength']), (3, len(body)))
refused('InvalidPartNumber|InvalidRange', s3.get_object, status=416, Key=key, PartNumber=4)
put('unparted', payload(100))
answer = s3.get_object(Bucket=B, Key='unparted', PartNumber=1)
same(len(answer['Body'].read()), 100)
refused('InvalidPartNumber|InvalidRange', s3.get_object, status=416, Key='unparted', PartNumber=2)
`,
  );
});

test('parts of one, small, empty and wrong', async ({ bed }) => {
  await run(
    bed,
    `
key, upload = 'one', create('one')
complete(key, upload, [part(key, upload, 1, b'')])
same((get(key), s3.head_object(Bucket=B, Key=key)['ContentLength']), (b'', 0))
key, upload = 'small', create('small')
put(key, b'kept')
parts = [part(key, upload, 1, payload(1000)), part(key, upload, 2, payload(1000))]
refused('EntityTooSmall', s3.complete_multipart_upload, status=400, Key=key, UploadId=upload, MultipartUpload={'Parts': parts})
same(get(key), b'kept')
wrong = base64.b64encode(b'abcd').decode()
refused('BadDigest|XAmzContentChecksumMismatch', s3.upload_part, status=400, Key=key, UploadId=upload, PartNumber=1, Body=payload(9000), ChecksumCRC32=wrong)
refused('BadDigest', s3.upload_part, status=400, Key=key, UploadId=upload, PartNumber=1, Body=payload(9000),
        ContentMD5=base64.b64encode(bytes(16)).decode())
same([p['ETag'] for p in s3.list_parts(Bucket=B, Key=key, UploadId=upload)['Parts']], [p['ETag'] for p in parts])
s3.abort_multipart_upload(Bucket=B, Key=key, UploadId=upload)
refused('NoSuchUpload', s3.list_parts, status=404, Key=key, UploadId=upload)
refused('NoSuchUpload', s3.upload_part, status=404, Key=key, UploadId=upload, PartNumber=1, Body=b'x')
refused('NoSuchUpload', s3.complete_multipart_upload, status=404, Key=key, UploadId=upload, MultipartUpload={'Parts': parts})
same(get(key), b'kept')
`,
  );
});

test('checksums that Complete names are of plaintext and stay here', async ({ bed }) => {
  await run(
    bed,
    `
key = 'summed'
upload = create(key, ChecksumAlgorithm='SHA256')
bodies, parts = [payload(5 * MiB), payload(10)], []
for number, body in enumerate(bodies, 1):
    answer = s3.upload_part(Bucket=B, Key=key, UploadId=upload, PartNumber=number, Body=body, ChecksumAlgorithm='SHA256')
    parts.append({'PartNumber': number, 'ETag': answer['ETag'], 'ChecksumSHA256': base64.b64encode(hashlib.sha256(body).digest()).decode()})
done = complete(key, upload, parts)
assert 'ChecksumSHA256' not in done or done['ChecksumSHA256'].endswith('-2'), done
answer = s3.get_object(Bucket=B, Key=key, ChecksumMode='ENABLED')
same(hashlib.sha256(answer['Body'].read()).digest(), hashlib.sha256(b''.join(bodies)).digest())
`,
  );
});

test('large objects are copied in parts and renamed', async ({ bed }) => {
  await run(
    bed,
    `
body = payload(22 * MiB)
config = TransferConfig(multipart_threshold=5 * MiB, multipart_chunksize=6 * MiB)
s3.upload_fileobj(io.BytesIO(body), B, 'large', Config=config, ExtraArgs={'Metadata': {'a': 'b'}, 'ContentType': 'text/l'})
digest = hashlib.sha256(body).digest()
s3.copy({'Bucket': B, 'Key': 'large'}, B, 'large-in-parts', Config=config)
s3.copy_object(Bucket=B, Key='large-at-once', CopySource={'Bucket': B, 'Key': 'large'})
s3.delete_object(Bucket=B, Key='large')
for key in ('large-in-parts', 'large-at-once'):
    same(hashlib.sha256(get(key)).digest(), digest, key)
    same(get(key, Range=f'bytes={6 * MiB - 5}-{6 * MiB + 4}'), body[6 * MiB - 5:6 * MiB + 5], key)
head = s3.head_object(Bucket=B, Key='large-at-once')
same((head['ContentLength'], head['ContentType'], head['Metadata']['a']), (len(body), 'text/l', 'b'))
upload = create('spliced')
source = {'Bucket': B, 'Key': 'large-at-once'}
parts = []
for number, (begin, end) in enumerate(((3, 5 * MiB + 2), (10 * MiB, 16 * MiB)), 1):
    result = s3.upload_part_copy(Bucket=B, Key='spliced', UploadId=upload, PartNumber=number, CopySource=source,
                                 CopySourceRange=f'bytes={begin}-{end}')['CopyPartResult']
    parts.append({'PartNumber': number, 'ETag': result['ETag']})
complete('spliced', upload, parts)
same(hashlib.sha256(get('spliced')).digest(), hashlib.sha256(body[3:5 * MiB + 3] + body[10 * MiB:16 * MiB + 1]).digest())
`,
  );
});

test('an upload may be conditional', async ({ bed }) => {
  await run(
    bed,
    `
put('taken', b'first')
upload = create('taken')
parts = [part('taken', upload, 1, payload(50))]
refused('PreconditionFailed', s3.complete_multipart_upload, status=412, Key='taken', UploadId=upload,
        MultipartUpload={'Parts': parts}, IfNoneMatch='*')
same(get('taken'), b'first')
s3.abort_multipart_upload(Bucket=B, Key='taken', UploadId=upload)
`,
  );
});

test('no records of uploads are left behind', async ({ bed }) => {
  const left = (await helperKeys(bed)).filter((key) => /^\.svc\/uploads\/.*\/\d+\//.test(key));
  assert.equal(left, []);
});

test('the store holds ciphertext only', ({ bed }) => auditStore(bed));

test.run();
