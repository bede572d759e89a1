import { CopyObjectCommand, GetObjectCommand, HeadObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Rig, type RiggedProxy, startRig } from '../../support/rig.ts';

const test = suite('envelope headers of answers');

let rig: Rig;

test.before(async () => {
  rig = await startRig();
});
test.after(() => rig?.stop());

async function shownBy(proxy: RiggedProxy, Key: string): Promise<string[]> {
  const at = { Bucket: rig.bucket, Key };
  const answers = [
    await proxy.s3.send(new HeadObjectCommand(at)),
    await proxy.s3.send(new HeadObjectCommand({ ...at, Range: 'bytes=0-1' })),
    await proxy.s3.send(new GetObjectCommand(at)),
    await proxy.s3.send(new GetObjectCommand({ ...at, Range: 'bytes=0-1' })),
  ];
  return answers.map(({ Metadata = {} }) => Object.keys(Metadata).sort().join());
}

test('stand beside the metadata of the caller, or are hidden; an object that is read and put again is its own', async () => {
  const [shown, hidden] = [await rig.proxy(), await rig.proxy({ args: ['--envelope-headers', 'hidden'] })];
  const at = { Bucket: rig.bucket, Key: 'object' };
  await hidden.s3.send(
    new PutObjectCommand({ ...at, Body: 'text', Metadata: { mine: '1', 'svc-mine': '2' } }),
  );
  for (const names of await shownBy(shown, at.Key))
    assert.match(names, /^mine,svc-algorithm,.*svc-wrapped-dek$/);
  assert.equal(await shownBy(hidden, at.Key), ['mine', 'mine', 'mine', 'mine']);
  const { Metadata, Body } = await hidden.s3.send(new GetObjectCommand(at));
  const text = await Body?.transformToString();
  await hidden.s3.send(new PutObjectCommand({ ...at, Key: 'again', Body: text ?? '', Metadata }));
  await hidden.s3.send(
    new CopyObjectCommand({
      ...at,
      Key: 'copied',
      CopySource: `${rig.bucket}/again`,
      MetadataDirective: 'REPLACE',
      Metadata,
    }),
  );
  for (const Key of ['again', 'copied']) {
    const read = await shown.s3.send(new GetObjectCommand({ ...at, Key }));
    assert.is(await read.Body?.transformToString(), 'text');
  }
  await Promise.all([shown.stop(), hidden.stop()]);
});

test.run();
