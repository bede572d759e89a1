import { randomBytes } from 'node:crypto';
import {
  AbortMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  ListPartsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { complete, MiB, sendParts } from '../../attacks/support/stored.ts';
import { rawHttp } from '../../support/raw-http.ts';
import { type Rig, type RiggedProxy, startRig } from '../../support/rig.ts';
import type { ObjectStore } from '../../support/types.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type CutUpload, cutDownload, cutUpload } from './cut-off.ts';

const size = 8 * MiB;
const offsets = [0, 1, 1000, 70_000, 300_000, 5 * MiB, size - 1];

/** Callers that go away in the middle, in front of one of the stores. */
export function testCallersThatGoAway(kind: ObjectStore['kind']): void {
  const test = suite(`callers that go away (${kind})`);
  let rig: Rig;
  let proxy: RiggedProxy;
  let withoutTrailer: RiggedProxy;
  const kept = randomBytes(size);

  test.before(async () => {
    rig = await startRig({ kind });
    proxy = await rig.proxy();
    withoutTrailer = await rig.proxy({
      args: ['--upstream-checksum', 'none', '--upstream-signing', 'unsigned'],
    });
    await proxy.s3.send(new PutObjectCommand({ Bucket: rig.bucket, Key: 'kept', Body: kept }));
  });
  test.after(() => rig?.stop());

  const keys = async () => {
    const { Contents = [] } = await rig.store.client.send(new ListObjectsV2Command({ Bucket: rig.bucket }));
    return Contents.map(({ Key, ETag }) => `${Key} ${ETag}`);
  };
  const cut = (via: RiggedProxy, key: string, options: Pick<CutUpload, 'sent' | 'manner' | 'chunked'>) =>
    cutUpload({ url: via.url, path: `/${rig.bucket}/${key}`, announced: size, ...options });

  /** Nothing is in flight any more, here and at the store. */
  const settled = () =>
    waitFor('the end of what was cut', async () => {
      const { body } = await rawHttp(`${proxy.health}/metrics`);
      return /^svc_proxy_requests_in_flight\S* 0$/m.test(body.toString());
    });

  for (const manner of ['fin', 'reset'] as const) {
    test(`a PUT cut by ${manner} leaves nothing and replaces nothing`, async () => {
      const before = await keys();
      for (const via of [proxy, withoutTrailer])
        for (const sent of offsets) for (const key of ['new', 'kept']) await cut(via, key, { sent, manner });
      for (const sent of offsets) await cut(proxy, 'new', { sent, manner, chunked: true });
      await settled();
      assert.equal(await keys(), before);
      assert.ok((await rawHttp(`${proxy.url}/${rig.bucket}/kept`)).body.equals(kept));
    });

    test(`a part cut by ${manner} leaves nothing and replaces nothing`, async () => {
      const parts = [randomBytes(5 * MiB), randomBytes(100)];
      const key = `parts-${manner}`;
      const begun = await sendParts(proxy.s3, rig.bucket, key, parts);
      for (const sent of offsets)
        for (const number of [1, 3]) {
          await cut(proxy, `${key}?partNumber=${number}&uploadId=${begun.UploadId}`, { sent, manner });
        }
      await settled();
      const list = new ListPartsCommand({ Bucket: rig.bucket, Key: key, UploadId: begun.UploadId });
      const { Parts = [] } = await proxy.s3.send(list);
      assert.equal(
        Parts.map(({ PartNumber, ETag }) => ({ PartNumber, ETag })),
        begun.Parts,
      );
      await complete(proxy.s3, rig.bucket, key, begun);
      assert.ok((await rawHttp(`${proxy.url}/${rig.bucket}/${key}`)).body.equals(Buffer.concat(parts)));
    });

    test(`a GET cut by ${manner} lets go of the store's connection`, async () => {
      await Promise.all(
        [0, 1000, 500_000, 3 * MiB].map((after) =>
          cutDownload(`${proxy.url}/${rig.bucket}/kept`, after, manner),
        ),
      );
      await settled();
      await waitFor('idle connections', () => rig.toStore.stats.open <= 8);
    });
  }

  test('an upload that is given up leaves no parts and no records', async () => {
    const { UploadId } = await sendParts(proxy.s3, rig.bucket, 'aborted', [randomBytes(5 * MiB)]);
    await cut(proxy, `aborted?partNumber=2&uploadId=${UploadId}`, { sent: 100_000, manner: 'reset' });
    await proxy.s3.send(new AbortMultipartUploadCommand({ Bucket: rig.bucket, Key: 'aborted', UploadId }));
    await settled();
    const { Uploads = [] } = await rig.store.client.send(
      new ListMultipartUploadsCommand({ Bucket: rig.bucket, Prefix: 'aborted' }),
    );
    assert.is(Uploads.length, 0);
    const left = (await keys()).filter((key) => key.startsWith('.svc/uploads/') && !/\/done /.test(key));
    assert.equal(left, []);
  });

  test.run();
}
