import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Rig, type RiggedProxy, startRig } from '../../support/rig.ts';

const test = suite('parts that are sent again');

let rig: Rig;
/** Two proxies for each format. */
const proxies = new Map<string, readonly RiggedProxy[]>();

test.before(async () => {
  rig = await startRig();
  for (const format of ['1', '2']) {
    const args = ['--format', format];
    proxies.set(format, await Promise.all([rig.proxy({ args }), rig.proxy({ args })]));
  }
});
test.after(() => rig?.stop());

/** Keys of the records of parts of all open uploads. */
async function recorded(): Promise<string[]> {
  const command = new ListObjectsV2Command({ Bucket: rig.bucket, Prefix: '.svc/uploads/' });
  const { Contents = [] } = await rig.store.client.send(command);
  return Contents.map(({ Key = '' }) => Key).filter((key) => /\/\d{5}\//.test(key));
}

class Upload {
  readonly at: { readonly Bucket: string; readonly Key: string; readonly UploadId: string };

  constructor(Key: string, UploadId: string) {
    this.at = { Bucket: rig.bucket, Key, UploadId };
  }

  static async begin(s3: S3Client, Key: string): Promise<Upload> {
    const begun = await s3.send(
      new CreateMultipartUploadCommand({ Bucket: rig.bucket, Key, ChecksumAlgorithm: 'CRC32' }),
    );
    return new Upload(Key, begun.UploadId ?? '');
  }

  async send(s3: S3Client, PartNumber: number, Body: string): Promise<string> {
    return (await s3.send(new UploadPartCommand({ ...this.at, PartNumber, Body }))).ETag ?? '';
  }

  parts = async (s3: S3Client) => (await s3.send(new ListPartsCommand(this.at))).Parts ?? [];

  /** @returns what is read of the object then */
  async complete(s3: S3Client, etags: readonly string[]): Promise<string> {
    const Parts = etags.map((ETag, index) => ({ ETag, PartNumber: index + 1 }));
    await s3.send(new CompleteMultipartUploadCommand({ ...this.at, MultipartUpload: { Parts } }));
    const { Bucket, Key } = this.at;
    return (await s3.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString() ?? '';
  }
}

for (const format of ['1', '2']) {
  const both = () => (proxies.get(format) ?? []).map(({ s3 }) => s3) as [S3Client, S3Client];

  test(`are completed if they are empty (format ${format})`, async () => {
    const [one, other] = both();
    const upload = await Upload.begin(one, `empty-again-${format}`);
    let etag = '';
    for (const s3 of [one, other, one]) etag = await upload.send(s3, 1, '');
    assert.is(await upload.complete(other, [etag]), '');
  });

  test(`replace their record, through whichever proxy (format ${format})`, async () => {
    const [one, other] = both();
    const upload = await Upload.begin(one, `again-${format}`);
    const first = await upload.send(one, 1, 'first');
    await upload.send(one, 2, 'other');
    assert.is((await recorded()).length, 2);
    for (const [s3, body] of [
      [one, 'second'],
      [other, 'third'],
      [one, 'fourth'],
      [other, 'fifth'],
    ] as const) {
      const etag = await upload.send(s3, 1, body);
      assert.is((await recorded()).length, 2, body);
      const [part] = await upload.parts(other);
      assert.equal([part?.ETag, part?.Size], [etag, body.length]);
      assert.ok(part?.ChecksumCRC32);
    }
    const [last] = await upload.parts(one);
    const refused = await upload.complete(one, [first]).catch((error) => error.name);
    assert.is(refused, 'InvalidPart');
    assert.is(await upload.complete(one, [last?.ETag ?? '']), 'fifth');
    assert.equal(await recorded(), []);
  });

  test(`at the same time leave the record of the one that the store has (format ${format})`, async () => {
    const [one, other] = both();
    for (let round = 0; round < 5; round++) {
      const upload = await Upload.begin(one, `race-${format}`);
      const bodies = Array.from({ length: 6 }, (_, index) => `body-${index}`);
      const etags = await Promise.all(
        bodies.map((body, index) => upload.send(index % 2 === 0 ? one : other, 1, body)),
      );
      const [part] = await upload.parts(other);
      const winner = etags.indexOf(part?.ETag ?? '');
      assert.ok(winner >= 0);
      assert.is(await upload.complete(other, [etags[winner] ?? '']), bodies[winner]);
    }
  });
}

test.run();
