import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { repetitions } from '../support/repetitions.ts';
import { auditStore } from './audit.ts';
import { type Bed, BUCKET, MiB, ok, startBed } from './bed.ts';
import { python } from './python.ts';

const test = suite<{ bed: Bed; digest: string }>('much in one PUT, read by ranges');
/** Several ranges of 8 MiB. */
const SIZE = repetitions(40, 100) * MiB;

/** How each client reads the object `key` into the file `key`. */
const DOWNLOADS: Readonly<Record<string, (bed: Bed, key: string) => Promise<unknown>>> = {
  boto3: (bed, key) => python(bed, `s3.download_file(B, '${key}', '${key}')`),
  aws: async ({ clients }, key) => ok(await clients.aws(['s3', 'cp', `s3://${BUCKET}/${key}`, key])),
  awsV1: async ({ clients }, key) => ok(await clients.awsV1(['s3', 'cp', `s3://${BUCKET}/${key}`, key])),
};

test.before(async (context) => {
  context.bed = await startBed();
  context.bed.file('source', SIZE);
  context.digest = context.bed.digest('source');
});

test.after(async ({ bed }) => {
  await bed?.stop();
});

for (const [name, download] of Object.entries(DOWNLOADS)) {
  test(`${name} makes the proxy fetch it once`, async ({ bed, digest }) => {
    const body = createReadStream(join(bed.clients.dir, 'source'));
    await bed.client.send(
      new PutObjectCommand({ Bucket: BUCKET, Key: name, Body: body, ContentLength: SIZE }),
    );
    await download(bed, name);
    assert.is(bed.digest(name), digest);
    const reads = bed.log.matching('GET', new RegExp(`/${name}(\\?|$)`));
    const fetched = reads.reduce((sum, { responseBytes }) => sum + responseBytes, 0);
    assert.ok(fetched >= SIZE, `only ${fetched} bytes fetched`);
    assert.ok(fetched <= 1.2 * SIZE, `${fetched} bytes fetched in ${reads.length} requests`);
  });
}

test('a range of a multipart object fetches the parts that hold it', async ({ bed }) => {
  await python(
    bed,
    `
body = payload(40 * MiB)
config = TransferConfig(multipart_threshold=8 * MiB, multipart_chunksize=8 * MiB)
s3.upload_fileobj(io.BytesIO(body), B, 'parted', Config=config)
same(get('parted', Range=f'bytes={20 * MiB}-{20 * MiB + 4095}'), body[20 * MiB:20 * MiB + 4096])
`,
  );
  const fetched = bed.log.matching('GET', /\/parted(\?|$)/).reduce((sum, one) => sum + one.responseBytes, 0);
  assert.ok(fetched >= 8 * MiB && fetched < 9 * MiB, `${fetched} bytes fetched`);
});

test('memory stays bounded', ({ bed }) => {
  const { peak } = bed.proxy.rss();
  assert.ok(peak < 200 * MiB, `${Math.round(peak / MiB)} MiB resident at most`);
});

test('the store holds ciphertext only', ({ bed }) => auditStore(bed));

test.run();
