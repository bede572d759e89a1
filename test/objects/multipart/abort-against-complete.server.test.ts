import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { DeleteObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MiB, putParts, sendParts } from '../../attacks/support/stored.ts';
import type { StoreRequest } from '../../support/meddling-store.ts';
import { type RawAnswer, rawHttp } from '../../support/raw-http.ts';
import { repetitions, storeKinds } from '../../support/repetitions.ts';
import { type Rig, startRig } from '../../support/rig.ts';
import {
  hold,
  isComplete,
  isManifest,
  type List,
  type Side,
  Sides,
  saysDone,
  sendComplete,
} from './support/sides.ts';

interface Upload {
  readonly bucket: string;
  readonly key: string;
  /** With the upload id. */
  readonly path: string;
  readonly list: List;
  /** What is at the key before. */
  readonly old: Buffer;
  readonly whole: Buffer;
}

const isAbort = ({ method, path }: StoreRequest) => method === 'DELETE' && /[?&]uploadId=/.test(path);
const isRemoval = ({ method, path }: StoreRequest) => method === 'POST' && /\?delete/.test(path);

for (const kind of storeKinds) {
  const test = suite(`AbortMultipartUpload against CompleteMultipartUpload (${kind})`);
  let rig: Rig;
  let started: Sides;
  let number = 0;
  const sides = new Map<string, readonly [Side, Side]>();

  test.before(async () => {
    rig = await startRig({ kind, versioning: kind === 'versitygw' });
    started = new Sides(rig);
    await rig.store.createBucket('versions', { versioning: true });
  });
  test.after(() => started?.stop());
  test.before.each(() => {
    for (const { way } of [...sides.values()].flat()) way.meddle(undefined);
  });

  /** An object of as many parts is at the key. */
  const begin = async (
    { proxy: { s3 } }: Side,
    { bucket = rig.bucket, lengths = [1000] }: { bucket?: string; lengths?: readonly number[] } = {},
  ): Promise<Upload> => {
    const key = `contested-${number++}`;
    const bodies = () => lengths.map((length) => randomBytes(length));
    const [old, parts] = [bodies(), bodies()];
    await putParts(s3, bucket, key, old);
    const { UploadId, Parts } = await sendParts(s3, bucket, key, parts);
    const path = `${bucket}/${key}?uploadId=${encodeURIComponent(UploadId)}`;
    return { bucket, key, path, list: Parts, old: Buffer.concat(old), whole: Buffer.concat(parts) };
  };

  const complete = (side: Side, { path, list }: Upload) => sendComplete(side, path, list);
  const abort = ({ proxy }: Side, { path }: Upload) => rawHttp(`${proxy.url}/${path}`, { method: 'DELETE' });
  const isDone = ({ status, body, code }: RawAnswer) =>
    assert.equal([status, code], [200, undefined], String(body));

  /** Through each of the proxies. */
  const reads = async (all: readonly Side[], { bucket, key }: Upload, expected: Buffer) => {
    for (const { proxy } of all) {
      const { status, body } = await rawHttp(`${proxy.url}/${bucket}/${key}`);
      assert.is(status, 200, String(body.subarray(0, 500)));
      assert.ok(body.equals(expected), 'another object than expected');
    }
  };

  const manifests = async (): Promise<string[]> => {
    const all = new ListObjectsV2Command({ Bucket: rig.bucket, Prefix: '.svc/manifests/' });
    return ((await rig.store.client.send(all)).Contents ?? []).map(({ Key = '' }) => Key);
  };

  /** Past the proxies, as soon as the store has answered a Complete. */
  const afterComplete = ({ way }: Side, act: () => Promise<unknown>) =>
    way.meddle({
      async after(request, answer) {
        if (isComplete(request)) await act();
        return answer;
      },
    });

  const overwrite = ({ bucket, key }: Upload, body: Buffer) =>
    rig.store.client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: body }));

  for (const format of ['1', '2'])
    for (const [form, args] of [
      ['inline', []],
      ['manifest', ['--inline-limit', '0']],
    ] as const) {
      const label = `format ${format}, ${form}`;
      const both = () => sides.get(label) as readonly [Side, Side];

      test(`start (${label})`, async () => {
        const all = ['--format', format, ...args];
        sides.set(label, await Promise.all([started.start(all), started.start(all)]));
      });

      test(`a Complete that an Abort overtakes is refused, and leaves the former object and no manifest (${label})`, async () => {
        const [us, them] = both();
        for (const which of [isComplete, isManifest]) {
          const upload = await begin(us, { lengths: [5 * MiB, 1000] });
          const before = await manifests();
          const held = hold(us, which);
          const ours = complete(us, upload);
          await held.arrived;
          assert.is((await abort(them, upload)).status, 204);
          held.go();
          assert.is((await ours).code, 'NoSuchUpload');
          for (const again of both()) assert.is((await complete(again, upload)).code, 'NoSuchUpload');
          await reads(both(), upload, upload.old);
          assert.equal(
            (await manifests()).filter((key) => !before.includes(key)),
            [],
          );
        }
      });

      test(`so is one that comes before the Abort has removed the records (${label})`, async () => {
        const [us, them] = both();
        const upload = await begin(us);
        const held = hold(them, isRemoval);
        const aborted = abort(them, upload);
        await held.arrived;
        afterComplete(us, async () => held.go());
        assert.is((await complete(us, upload)).code, 'NoSuchUpload');
        assert.is((await aborted).status, 204);
        await reads(both(), upload, upload.old);
      });

      test(`an Abort waits for the Complete that runs in its proxy (${label})`, async () => {
        const [us] = both();
        const upload = await begin(us);
        let sentAborts = 0;
        const held = hold(us, (request) => {
          if (isAbort(request)) sentAborts++;
          return isComplete(request);
        });
        const ours = complete(us, upload);
        await held.arrived;
        const aborted = abort(us, upload);
        await delay(300);
        assert.is(sentAborts, 0);
        held.go();
        isDone(await ours);
        // MinIO accepts the Abort of an upload that has ended
        assert.is((await aborted).status, kind === 'minio' ? 204 : 404);
        await reads(both(), upload, upload.whole);
      });

      test(`an object that is replaced or deleted at once was completed all the same (${label})`, async () => {
        const [us, them] = both();
        const replaced = await begin(us);
        const other = randomBytes(100);
        afterComplete(us, () => overwrite(replaced, other));
        isDone(await complete(us, replaced));
        await reads(both(), replaced, other);
        isDone(await complete(them, replaced));

        const deleted = await begin(us);
        const { bucket, key } = deleted;
        afterComplete(us, () => rig.store.client.send(new DeleteObjectCommand({ Bucket: bucket, Key: key })));
        isDone(await complete(us, deleted));
      });

      test(`a Complete that the store answers while another one is under way waits for the object (${label})`, async () => {
        const [us, them] = both();
        const upload = await begin(us);
        const held = hold(them, isComplete);
        const theirs = complete(them, upload);
        await held.arrived;
        let looks = 0;
        us.way.meddle({
          before(request) {
            if (isComplete(request)) return saysDone('"of the list"');
            if (request.method === 'HEAD' && request.path.endsWith(`/${upload.key}`) && ++looks === 4)
              held.go();
            return undefined;
          },
        });
        isDone(await complete(us, upload));
        isDone(await theirs);
        await reads(both(), upload, upload.whole);
      });

      test(`at any moment, not both succeed while the object is another (${label})`, async () => {
        const [us, them] = both();
        for (const other of [us, them])
          for (let round = 0; round < repetitions(3, 20); round++) {
            const upload = await begin(us);
            const [completed, aborted] = await Promise.all([
              complete(us, upload),
              delay((round * 5) % 30).then(() => abort(other, upload)),
            ]);
            assert.ok([200, 400, 404].includes(completed.status), String(completed.body));
            assert.ok([204, 404].includes(aborted.status), String(aborted.body));
            await reads(both(), upload, completed.status === 200 ? upload.whole : upload.old);
          }
      });

      test(`in a bucket that keeps versions (${label})`, async () => {
        const [us, them] = both();
        const aborted = await begin(us, { bucket: 'versions' });
        const held = hold(us, isComplete);
        const ours = complete(us, aborted);
        await held.arrived;
        assert.is((await abort(them, aborted)).status, 204);
        held.go();
        assert.is((await ours).code, 'NoSuchUpload');
        await reads(both(), aborted, aborted.old);

        const replaced = await begin(us, { bucket: 'versions' });
        const other = randomBytes(100);
        afterComplete(us, () => overwrite(replaced, other));
        const completed = await complete(us, replaced);
        isDone(completed);
        await reads(both(), replaced, other);
        const version = completed.headers['x-amz-version-id'];
        const { key, whole } = replaced;
        const read = await rawHttp(`${us.proxy.url}/versions/${key}?versionId=${version}`);
        assert.ok(read.body.equals(whole), String(read.body.subarray(0, 500)));
      });
    }

  test('what the store says is not believed if the former object stays, and the upload can be completed', async () => {
    const [us] = sides.get('format 2, manifest') as readonly [Side, Side];
    const upload = await begin(us);
    us.way.meddle({ before: (request) => (isComplete(request) ? saysDone('"of the list"') : undefined) });
    assert.is((await complete(us, upload)).code, 'InternalError');
    us.way.meddle(undefined);
    await reads([us], upload, upload.old);
    isDone(await complete(us, upload));
    await reads([us], upload, upload.whole);
  });

  test.run();
}
