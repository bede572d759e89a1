import { randomBytes } from 'node:crypto';
import { HeadObjectCommand, UploadPartCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MiB, sendParts } from '../../attacks/support/stored.ts';
import type { StoreAnswer, StoreRequest } from '../../support/meddling-store.ts';
import { type RawAnswer, rawHttp } from '../../support/raw-http.ts';
import { storeKinds } from '../../support/repetitions.ts';
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
  readonly path: string;
  /** First part, and the two that the lists differ in. */
  readonly bodies: readonly [Buffer, Buffer, Buffer];
  readonly ours: List;
  readonly theirs: List;
}

for (const kind of storeKinds) {
  const test = suite(`two Completes of one upload with different lists (${kind})`);
  let rig: Rig;
  let started: Sides;
  let number = 0;
  const sides = new Map<string, readonly [Side, Side]>();

  test.before(async () => {
    rig = await startRig({ kind });
    started = new Sides(rig);
  });
  test.after(() => started?.stop());

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

  const complete = (side: Side, { path }: Upload, list: List) => sendComplete(side, path, list);

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
    return saysDone(ETag);
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
        sides.set(label, await Promise.all([started.start(all), started.start(all)]));
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
