import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { complete, MiB, putParts, sendParts } from '../attacks/support/stored.ts';
import { clientsFor } from '../support/clients.ts';
import { listen } from '../support/loopback.ts';
import { type RawAnswer, rawHttp } from '../support/raw-http.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import type { CutManner } from '../support/types.ts';
import { waitFor } from '../support/wait-for.ts';

const test = suite('a store that fails');
let rig: Rig;
let proxy: RiggedProxy;
const small = randomBytes(30_000);
const large = randomBytes(20 * MiB);

test.before(async () => {
  rig = await startRig();
  proxy = await rig.proxy();
  for (const [Key, Body] of [
    ['small', small],
    ['large', large],
  ] as const)
    await proxy.s3.send(new PutObjectCommand({ Bucket: rig.bucket, Key, Body }));
});
test.after(() => rig?.stop());

const get = (key: string, headers = {}) => rawHttp(`${proxy.url}/${rig.bucket}/${key}`, { headers });
const put = (key: string, body: Uint8Array) =>
  rawHttp(`${proxy.url}/${rig.bucket}/${key}`, { method: 'PUT', body });

async function during<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } finally {
    await rig.toStore.heal();
  }
}

async function assertUntouched(): Promise<void> {
  assert.ok((await get('small')).body.equals(small), 'the small object');
  assert.ok((await get('large')).body.equals(large), 'the large object');
}

async function isAbsent(Key: string): Promise<boolean> {
  const found = rig.store.client.send(new HeadObjectCommand({ Bucket: rig.bucket, Key }));
  return found.then(
    () => false,
    ({ name }: Error) => name === 'NotFound',
  );
}

const assertUnavailable = ({ status, code }: RawAnswer, label: string) =>
  assert.is(`${status} ${code}`, '503 ServiceUnavailable', label);

test('away: 503, and it recovers by itself', async () => {
  await rig.toStore.refuse();
  await during(async () => {
    for (const [index, answer] of (
      await Promise.all([
        get('small'),
        get('large', { range: 'bytes=0-9' }),
        put('new', small),
        put('new', large),
        rawHttp(`${proxy.url}/${rig.bucket}?list-type=2`),
        rawHttp(`${proxy.url}/${rig.bucket}/x?uploads`, { method: 'POST' }),
        rawHttp(`${proxy.url}/${rig.bucket}/small`, { method: 'DELETE' }),
      ])
    ).entries())
      assertUnavailable(answer, `away ${index}`);
  });
  await assertUntouched();
  assert.ok(await isAbsent('new'));
});

test('slow: requests wait for it', async () => {
  rig.toStore.delay(300);
  await during(async () => {
    assert.ok((await get('small')).body.equals(small));
    assert.is((await put('slow', large)).status, 200);
  });
  assert.ok((await get('slow')).body.equals(large));
});

for (const manner of ['fin', 'reset'] as const) {
  test(`cutting in the middle of a PUT by ${manner}: an error, nothing stored, nothing replaced`, async () => {
    for (const offset of [100, 2000, 300_000, 10 * MiB, 20 * MiB])
      for (const key of [`new-${manner}`, 'large']) await assertPutFails(manner, offset, key);
    assert.ok(await isAbsent(`new-${manner}`));
    await assertUntouched();
  });

  test(`cutting in the middle of a GET by ${manner}: never a body that looks whole`, async () => {
    for (const offset of [50, 2000, 300_000, 10 * MiB, 20 * MiB]) {
      rig.toStore.cutAfter(offset, 'to-client', manner);
      await during(() => assertGetBreaks(`${manner} at ${offset}`));
    }
    await assertUntouched();
  });
}

async function assertPutFails(manner: CutManner, offset: number, key: string): Promise<void> {
  rig.toStore.cutAfter(offset, 'to-server', manner);
  const answer = await during(() => put(key, randomBytes(20 * MiB)));
  assertUnavailable(answer, `${key}, ${manner} at ${offset}`);
}

async function assertGetBreaks(label: string): Promise<void> {
  const answers = await Promise.all([get('large'), get('large', { range: `bytes=0-${20 * MiB - 2}` })]);
  for (const { status, complete, body } of answers) {
    assert.ok(status >= 500 || !complete, `${label}: ${status} complete`);
    if (status < 300) assert.ok(body.length < large.length - 1, `${label}: all bytes arrived`);
    if (status < 300) assert.ok(large.subarray(0, body.length).equals(body), `${label}: wrong bytes`);
  }
}

test('a connection cut once is no error to the caller of a small read', async () => {
  await get('small');
  rig.toStore.cutAfter(10, 'to-client', 'reset', { count: 1 });
  const { status, body } = await during(() => get('small'));
  assert.ok(status === 503 || body.equals(small), `${status}`);
});

test('its refusals are passed on as they are', async () => {
  const error = (code: string) => `<Error><Code>${code}</Code><Message>no</Message></Error>`;
  for (const [status, code] of [
    [500, 'InternalError'],
    [503, 'SlowDown'],
    [403, 'AccessDenied'],
    [507, 'InsufficientStorage'],
  ] as const) {
    rig.toStore.answer(status, error(code), { headers: { 'content-type': 'application/xml' } });
    await during(async () => {
      for (const answer of [await get('small'), await put('refused', small), await put('refused', large)])
        assert.is(`${answer.status} ${answer.code}`, `${status} ${code}`);
    });
  }
  assert.ok(await isAbsent('refused'));
});

test('boto3 gets through by its own retries', async () => {
  const clients = clientsFor(proxy.target);
  rig.toStore.answer(503, '<Error><Code>SlowDown</Code></Error>', { count: 2 });
  const { stdout, stderr } = await during(() =>
    clients.boto3(`
again = boto3.client('s3', endpoint_url=os.environ['AWS_ENDPOINT_URL'],
                     config=Config(s3={'addressing_style': 'path'}, retries={'total_max_attempts': 5, 'mode': 'standard'}))
again.put_object(Bucket='bucket', Key='retried', Body=b'retried')
print(again.get_object(Bucket='bucket', Key='retried')['Body'].read().decode())`),
  );
  await clients.stop();
  assert.match(stdout, 'retried', stderr);
});

test('a redirect is not followed, with a body or without', async () => {
  const elsewhere = await startElsewhere();
  for (const status of [301, 302, 307, 308]) {
    rig.toStore.answer(status, '', { headers: { location: `${elsewhere.url}/bucket/small` } });
    await during(async () => {
      for (const answer of [
        await get('small'),
        await put('redirected', small),
        await put('redirected', large),
      ])
        assert.is(`${answer.status} ${answer.code}`, '500 InternalError', `${status}`);
      const begun = await rawHttp(`${proxy.url}/${rig.bucket}/redirected?uploads`, { method: 'POST' });
      assert.ok(begun.status >= 500);
    });
  }
  assert.is(elsewhere.requests(), 0);
  await elsewhere.stop();
});

async function startElsewhere() {
  let count = 0;
  const server = createServer((_, response) => {
    count += 1;
    response.end();
  });
  return { ...(await listen(server)), requests: () => count };
}

test('an <Error> inside a 200 of Complete is an error', async () => {
  const { UploadId, Parts } = await sendParts(proxy.s3, rig.bucket, 'late-error', [randomBytes(5 * MiB)]);
  const list = Parts.map(
    ({ PartNumber, ETag }) => `<Part><PartNumber>${PartNumber}</PartNumber><ETag>${ETag}</ETag></Part>`,
  ).join('');
  const body = Buffer.from(`<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`);
  const url = `${proxy.url}/${rig.bucket}/late-error?uploadId=${UploadId}`;
  rig.toStore.answer(200, '  <Error><Code>InternalError</Code><Message>late</Message></Error>', {
    when: /^POST \/bucket\/late-error/,
  });
  const answer = await during(() => rawHttp(url, { method: 'POST', body }));
  assert.is(answer.code, 'InternalError', answer.body.toString());
  assert.is((await rawHttp(url, { method: 'POST', body })).status, 200);
});

test('a store that ends while parts are sent: the upload goes on when it is back', async () => {
  const parts = [randomBytes(5 * MiB), randomBytes(5 * MiB), randomBytes(10)];
  const begun = await sendParts(proxy.s3, rig.bucket, 'interrupted', parts.slice(0, 1));
  await rig.store.pause();
  const url = `${proxy.url}/${rig.bucket}/interrupted?uploadId=${begun.UploadId}`;
  const refused = await rawHttp(`${url}&partNumber=2`, { method: 'PUT', body: parts[1] as Buffer });
  assertUnavailable(refused, 'part');
  await rig.store.resume();
  for (const number of [2, 3]) {
    const sent = await waitFor('the store', async () => {
      const answer = await rawHttp(`${url}&partNumber=${number}`, {
        method: 'PUT',
        body: parts[number - 1] as Buffer,
      });
      return answer.status === 200 && answer;
    });
    begun.Parts.push({ PartNumber: number, ETag: sent.headers.etag ?? '' });
  }
  await complete(proxy.s3, rig.bucket, 'interrupted', begun);
  assert.ok((await get('interrupted')).body.equals(Buffer.concat(parts)));
});

test('a multipart object cut between its parts is not taken for a shorter one', async () => {
  const parts = [randomBytes(5 * MiB), randomBytes(5 * MiB)];
  await putParts(proxy.s3, rig.bucket, 'two-parts', parts);
  for (const manner of ['fin', 'reset'] as const) {
    rig.toStore.cutAfter(5 * MiB + 28 + 700, 'to-client', manner);
    const answer = await during(() => get('two-parts'));
    assert.is(answer.complete && answer.status < 300, false, manner);
  }
});

test.run();
