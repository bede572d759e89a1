import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { auditStore } from './audit.ts';
import { type Bed, BUCKET, ok, startBed } from './bed.ts';
import { python } from './python.ts';

const HELPERS = `
def fetch(url, method='GET', data=None, **headers):
    request = urllib.request.Request(url, method=method, data=data, headers={k.replace('_', '-'): v for k, v in headers.items()})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, error.read(), error.headers
def sign(operation, **arguments):
    return s3.generate_presigned_url(operation, Params={'Bucket': B, **arguments}, ExpiresIn=600)
s3 = boto3.client('s3', endpoint_url=os.environ['AWS_ENDPOINT_URL'],
                  config=Config(signature_version='s3v4', s3={'addressing_style': 'path'}, retries={'total_max_attempts': 1}))
`;
const run = (bed: Bed, script: string) => python(bed, HELPERS + script);

const KEYS = {
  SVC_PROXY_ACCESS_KEY_ID: 'CALLERKEY',
  SVC_PROXY_SECRET_ACCESS_KEY: 'caller-secret-of-the-proxy',
};

for (const [name, env] of [
  ['callers not authenticated', {}],
  ['callers authenticated', KEYS],
] as const) {
  const test = suite<{ bed: Bed }>(`presigned URLs, ${name}`);

  test.before(async (context) => {
    context.bed = await startBed({ env });
  });

  test.after(async ({ bed }) => {
    await bed?.stop();
  });

  test('PUT and GET', async ({ bed }) => {
    await run(
      bed,
      `
body = payload(50000)
key = 'signed/ä +&%?=é x'
status, text, headers = fetch(sign('put_object', Key=key, ContentType='text/p', Metadata={'a': 'b'}), 'PUT', body,
                              Content_Type='text/p', x_amz_meta_a='b')
same(status, 200, text)
status, text, headers = fetch(sign('get_object', Key=key))
same((status, text), (200, body))
same((headers['Content-Type'], headers['x-amz-meta-a'], headers['Content-Length']), ('text/p', 'b', '50000'))
status, text, headers = fetch(sign('get_object', Key=key, ResponseContentType='text/other'), Range='bytes=5-9')
same((status, text, headers['Content-Type'], headers['Content-Range']), (206, body[5:10], 'text/other', 'bytes 5-9/50000'))
status, text, headers = fetch(sign('head_object', Key=key), 'HEAD')
same((status, headers['Content-Length']), (200, '50000'))
status, text, headers = fetch(sign('list_objects_v2', Prefix='signed/'))
same(status, 200)
assert b'<Size>50000</Size>' in text, text
same(fetch(sign('delete_object', Key=key), 'DELETE')[0], 204)
same(fetch(sign('get_object', Key=key))[0], 404)
`,
    );
  });

  test('parts of an upload', async ({ bed }) => {
    await run(
      bed,
      `
upload = s3.create_multipart_upload(Bucket=B, Key='parts')['UploadId']
bodies = [payload(5 * MiB), payload(9)]
parts = []
for number, body in enumerate(bodies, 1):
    status, text, headers = fetch(sign('upload_part', Key='parts', UploadId=upload, PartNumber=number), 'PUT', body)
    same(status, 200, text)
    parts.append({'PartNumber': number, 'ETag': headers['ETag']})
s3.complete_multipart_upload(Bucket=B, Key='parts', UploadId=upload, MultipartUpload={'Parts': parts})
same(hashlib.sha256(get('parts')).digest(), hashlib.sha256(b''.join(bodies)).digest())
`,
    );
  });

  test('the AWS CLI signs URLs', async ({ bed }) => {
    bed.file('cli', 3000);
    ok(await bed.clients.aws(['s3', 'cp', 'cli', `s3://${BUCKET}/cli`]));
    const url = ok(await bed.clients.aws(['s3', 'presign', `s3://${BUCKET}/cli`])).trim();
    const answer = await fetch(url);
    assert.is(answer.status, 200);
    assert.is((await answer.arrayBuffer()).byteLength, 3000);
  });

  test('URLs signed the old way, by version 2, serve where nobody is authenticated', async ({ bed }) => {
    await run(
      bed,
      `
old = boto3.client('s3', endpoint_url=os.environ['AWS_ENDPOINT_URL'], config=Config(signature_version='s3', s3={'addressing_style': 'path'}))
url = old.generate_presigned_url('put_object', Params={'Bucket': B, 'Key': 'old'}, ExpiresIn=600)
assert 'AWSAccessKeyId=' in url, url
put('old', b'kept')
status, text, headers = fetch(url, 'PUT', b'changed', Content_Type='')
same((status, get('old')), ${env === KEYS ? "(400, b'kept')" : "(200, b'changed')"}, text)
url = old.generate_presigned_url('get_object', Params={'Bucket': B, 'Key': 'old'}, ExpiresIn=600)
same(fetch(url)[0], ${env === KEYS ? 400 : 200})
`,
    );
  });

  if (env === KEYS) {
    test('without the right signature nothing is served', async ({ bed }) => {
      await run(
        bed,
        `
put('guarded', payload(100))
good = sign('get_object', Key='guarded')
same(fetch(good)[0], 200)
same(fetch(good.split('?')[0])[0], 403)
same(fetch(good[:-1] + ('0' if good[-1] != '0' else '1'))[0], 403)
same(fetch(good.replace('guarded', 'guardes'))[0], 403)
same(fetch(good, 'PUT', b'x')[0], 403)
same(fetch(good, 'DELETE')[0], 403)
import time
short = s3.generate_presigned_url('get_object', Params={'Bucket': B, 'Key': 'guarded'}, ExpiresIn=1)
time.sleep(2.1)
same(fetch(short)[0], 403)
stranger = boto3.client('s3', endpoint_url=os.environ['AWS_ENDPOINT_URL'], aws_access_key_id='OTHER', aws_secret_access_key='other-secret',
                        config=Config(s3={'addressing_style': 'path'}, retries={'total_max_attempts': 1}))
refused('InvalidAccessKeyId', stranger.get_object, status=403, Key='guarded')
refused('InvalidAccessKeyId', stranger.put_object, status=403, Key='guarded', Body=b'x')
forger = boto3.client('s3', endpoint_url=os.environ['AWS_ENDPOINT_URL'], aws_secret_access_key='other-secret', aws_access_key_id='CALLERKEY',
                      config=Config(s3={'addressing_style': 'path'}, retries={'total_max_attempts': 1}))
refused('SignatureDoesNotMatch', forger.get_object, status=403, Key='guarded')
same(len(get('guarded')), 100)
`,
      );
    });
  }

  test('the store holds ciphertext only', ({ bed }) => auditStore(bed));

  test.run();
}
