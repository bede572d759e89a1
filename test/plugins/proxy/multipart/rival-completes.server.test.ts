import { randomBytes } from 'node:crypto';
import { HeadObjectCommand, UploadPartCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MiB, sendParts } from '../../../attacks/support/stored.ts';
import {
  type Meddling,
  type MeddlingStore,
  type StoreAnswer,
  type StoreRequest,
  startMeddlingStore,
} from '../../../support/meddling-store.ts';
import { type RawAnswer, rawHttp } from '../../../support/raw-http.ts';
import { repetitions } from '../../../support/repetitions.ts';
import { type Rig, type RiggedProxy, startRig } from '../../../support/rig.ts';

/** A proxy, and what happens on its way to the store. */
interface Side {
  readonly proxy: RiggedProxy;
  readonly way: MeddlingStore;
}

type List = readonly { readonly PartNumber: number; readonly ETag: string }[];

interface Upload {
  readonly path: string;
  /** First part, and the two that the lists differ in. */
  readonly bodies: readonly [Buffer, Buffer, Buffer];
  readonly ours: List;
  readonly theirs: List;
}

const isComplete = ({ method, path }: StoreRequest) => method === 'POST' && /[?&]uploadId=/.test(path);
const isManifest = ({ method, path }: StoreRequest) => method === 'PUT' && path.includes('/manifests/');

for (const kind of (['versitygw', 'minio'] as const).slice(0, repetitions(1, 2))) {
  const test = suite(`two Completes of one upload with different lists (${kind})`);
  let rig: Rig;
  let number = 0;
  const sides = new Map<string, readonly [Side, Side]>();

  test.before(async () => {
    rig = await startRig({ kind });
  });
  test.after(async () => {
    const ways = [...sides.values()].flat().map(({ way }) => way);
    await rig?.stop();
    await Promise.all(ways.map((way) => way.stop()));
  });

  const side = async (args: readonly string[]): Promise<Side> => {
    const way = await startMeddlingStore(rig.store.url);
    const { region, accessKeyId, secretAccessKey } = rig.store;
    const upstream = { endpoint: way.url, region, accessKeyId, secretAccessKey };
    return { way, proxy: await rig.proxy({ upstream, args }) };
  };

  /** @param lengths of the two parts that the lists differ in */
  const begin = async ([us, them]: readonly [Side, Side], lengths: readonly number[]): Promise<Upload> => {
    const key = `rivals-${number++}`;
    const bodies = [5 * MiB, ...lengths].map((length) => randomBytes(length)) as [Buffer, Buffer, Buffer];
    const { UploadId, Parts } = await sendParts(us.proxy.s3, rig.bucket, key, bodies.slice(0, 2));
    const part = { Bucket: rig.bucket, Key: key, UploadId, PartNumber: 3, Body: bodies[2] };
    const { ETag = '' } = await them.proxy.s3.send(new UploadPartCommand(part));
    const [first, second] = Parts as [List[number], List[number]];
    const path = `${rig.bucket}/${key}?uploadId=${encodeURIComponent(UploadId)}`;
    return { path, bodies, ours: [first, second], theirs: [first, { PartNumber: 3, ETag }] };
  };

  const complete = ({ proxy }: Side, { path }: Upload, list: List): Promise<RawAnswer> => {
    const parts = list.map(
      ({ PartNumber, ETag }) => `<Part><PartNumber>${PartNumber}</PartNumber><ETag>${ETag}</ETag></Part>`,
    );
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
    return rawHttp(`${proxy.url}/${path}`, { method: 'POST', body });
  };

  const isDone = ({ status, body, code }: RawAnswer) =>
    assert.equal([status, code], [200, undefined], String(body));

  /** Through both proxies. */
  const reads = async (both: readonly [Side, Side], { path }: Upload, expected: readonly Buffer[]) => {
    const whole = Buffer.concat(expected);
    for (const { proxy } of both) {
      const { status, body } = await rawHttp(`${proxy.url}/${path.replace(/\?.*/, '')}`);
      assert.is(status, 200, String(body.subarray(0, 500)));
      assert.ok(body.equals(whole), 'another object than the store accepted');
    }
  };

  /** What a store says that does not look at the list of an upload that has ended. */
  const sayDone = async ({ path }: StoreRequest, answer: StoreAnswer): Promise<StoreAnswer> => {
    if (answer.status < 300 && !answer.body.includes('<Error>')) return answer;
    const Key = path.replace(/\?.*/, '').slice(rig.bucket.length + 2);
    const { ETag } = await rig.store.client.send(new HeadObjectCommand({ Bucket: rig.bucket, Key }));
    const result = `<CompleteMultipartUploadResult><ETag>${ETag}</ETag></CompleteMultipartUploadResult>`;
    return { status: 200, headers: { 'content-type': 'application/xml' }, body: Buffer.from(result) };
  };

  /** Holds the first such request on its way to the store. */
  const hold = (
    { way }: Side,
    which: (request: StoreRequest) => boolean,
    then: Pick<Meddling, 'after'> = {},
  ) => {
    const [arrived, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let held = false;
    way.meddle({
      ...then,
      before: async (request) => {
        if (held || !which(request)) return undefined;
        held = true;
        arrived.resolve();
        await gone.promise;
        return undefined;
      },
    });
    return { arrived: arrived.promise, go: () => gone.resolve() };
  };

  for (const format of ['1', '2'])
    for (const [form, args] of [
      ['inline', []],
      ['manifest', ['--inline-limit', '0']],
    ] as const) {
      const label = `format ${format}, ${form}`;
      const both = () => sides.get(label) as readonly [Side, Side];

      test(`start (${label})`, async () => {
        const all = ['--format', format, ...args];
        sides.set(label, await Promise.all([side(all), side(all)]));
      });

      test(`the one whose Complete reaches the store second is refused (${label})`, async () => {
        for (const says of ['what it does', 'always done']) {
          const [us, them] = both();
          const upload = await begin(both(), [1000, 1000]);
          const after = (request: StoreRequest, answer: StoreAnswer) =>
            says === 'always done' && isComplete(request) ? sayDone(request, answer) : answer;
          const held = hold(them, isComplete, { after });
          const theirs = complete(them, upload, upload.theirs);
          await held.arrived;
          isDone(await complete(us, upload, upload.ours));
          held.go();
          assert.is((await theirs).code, 'NoSuchUpload', `the store says ${says}`);
          await reads(both(), upload, upload.bodies.slice(0, 2));
          for (const again of both()) isDone(await complete(again, upload, upload.ours));
          await reads(both(), upload, upload.bodies.slice(0, 2));
        }
      });

      test(`the one whose manifest comes late does not leave it (${label})`, async () => {
        for (const lengths of [
          [1000, 1000],
          [1000, 3000],
        ]) {
          const [us, them] = both();
          const upload = await begin(both(), lengths);
          const held = hold(them, isManifest);
          const theirs = complete(them, upload, upload.theirs);
          await held.arrived;
          isDone(await complete(us, upload, upload.ours));
          held.go();
          assert.is((await theirs).code, 'NoSuchUpload');
          await reads(both(), upload, upload.bodies.slice(0, 2));
        }
      });

      test(`a retry is believed after the proxy died at once after the store's Complete (${label})`, async () => {
        const [us, them] = both();
        const upload = await begin(both(), [1000, 1000]);
        // their manifest is there first, and does not fit the object that the store then makes
        const held = hold(them, isComplete);
        const theirs = complete(them, upload, upload.theirs);
        await held.arrived;
        us.way.meddle({
          after(request, answer) {
            if (isComplete(request)) throw new Error('the answer is lost');
            return answer;
          },
        });
        assert.ok((await complete(us, upload, upload.ours)).status >= 500);
        us.way.meddle(undefined);
        held.go();
        assert.is((await theirs).code, 'NoSuchUpload');
        assert.is((await complete(them, upload, upload.theirs)).code, 'NoSuchUpload');
        isDone(await complete(them, upload, upload.ours));
        await reads(both(), upload, upload.bodies.slice(0, 2));
        isDone(await complete(us, upload, upload.ours));
        assert.ok((await complete(us, upload, upload.theirs)).status >= 400);
        await reads(both(), upload, upload.bodies.slice(0, 2));
      });
    }

  test.run();
}
