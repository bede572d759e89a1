import {
  CopyObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { storeKinds } from '../../support/repetitions.ts';
import { type Rig, type RiggedProxy, startRig } from '../../support/rig.ts';

const seal = 'svc-empty-seal';

for (const kind of storeKinds) {
  const test = suite(`empty objects whose keys end in a slash, ${kind}`);
  let rig: Rig;
  let proxy: RiggedProxy;

  test.before(async () => {
    rig = await startRig({ kind });
    proxy = await rig.proxy({ args: ['--unencrypted-reads', 'deny'] });
  });
  test.after(() => rig?.stop());

  const at = (Key: string) => ({ Bucket: rig.bucket, Key });
  const make = (Key: string, more: object = {}, via = proxy) =>
    via.s3.send(new PutObjectCommand({ ...at(Key), Body: '', ...more }));
  const stored = (Key: string) => rig.store.client.send(new HeadObjectCommand(at(Key)));
  const copy = (from: string, to: string) =>
    proxy.s3.send(new CopyObjectCommand({ ...at(to), CopySource: `${rig.bucket}/${from}` }));

  async function read(Key: string): Promise<string> {
    const answer = await proxy.s3.send(new GetObjectCommand(at(Key)));
    return `${answer.ContentLength}:${await answer.Body?.transformToString()}`;
  }

  const refused = (Key: string, Range?: string) =>
    proxy.s3.send(new GetObjectCommand({ ...at(Key), Range })).then(
      () => 'read',
      (error: Error) => error.name,
    );

  test('the store gets no body, the seal is in the metadata, and callers see an empty object', async () => {
    await make('plain/', { Metadata: { own: 'value' }, ContentType: 'application/x-directory' });
    const { ContentLength, Metadata } = await stored('plain/');
    assert.is(ContentLength, 0);
    assert.is(Buffer.from(Metadata?.[seal] ?? '', 'base64').length, 28);
    assert.is(await read('plain/'), '0:');
    const head = await proxy.s3.send(new HeadObjectCommand(at('plain/')));
    assert.equal([head.ContentLength, head.ContentType], [0, 'application/x-directory']);
    assert.is(head.Metadata?.own, 'value');
    const list = new ListObjectsV2Command({ Bucket: rig.bucket, Prefix: 'plain/' });
    assert.equal(
      (await proxy.s3.send(list)).Contents?.map(({ Key, Size }) => [Key, Size]),
      [['plain/', 0]],
    );
  });

  test('so it is without a length, and for stores that take no checksum', async () => {
    const address = `${proxy.url}/${rig.bucket}/streamed/`;
    const body = new Blob([]).stream();
    assert.is((await fetch(address, { method: 'PUT', body, duplex: 'half' } as RequestInit)).status, 200);
    const bare = await rig.proxy({ args: ['--upstream-checksum', 'none'] });
    await make('unsummed/', {}, bare);
    for (const key of ['streamed/', 'unsummed/']) {
      assert.is((await stored(key)).ContentLength, 0, key);
      assert.is(await read(key), '0:', key);
    }
  });

  test('other empty objects keep their body', async () => {
    await make('empty');
    const { ContentLength, Metadata } = await stored('empty');
    assert.equal([ContentLength, Metadata?.[seal]], [28, undefined]);
  });

  test('copies read, whichever end has a slash', async () => {
    await make('source/', { Metadata: { own: 'value' } });
    await make('bodied');
    for (const [from, to, length] of [
      ['source/', 'copied/', 0],
      ['bodied', 'made/', 0],
      ['source/', 'file', 28],
      ['bodied', 'other', 28],
    ] as const) {
      await copy(from, to);
      assert.is((await stored(to)).ContentLength, length, to);
      assert.is(await read(to), '0:', to);
    }
    assert.is((await proxy.s3.send(new HeadObjectCommand(at('copied/')))).Metadata?.own, 'value');
  });

  test('a seal that was changed, left out, is that of another name, or stands beside a body is refused', async () => {
    await make('good/');
    await make('theirs/');
    const { Metadata = {} } = await stored('good/');
    const { Metadata: theirs = {} } = await stored('theirs/');
    const { [seal]: own = '', ...rest } = Metadata;
    const changed = Buffer.from(own, 'base64');
    changed.writeUInt8(changed.readUInt8(27) ^ 1, 27);
    const forgeries: Record<string, [Metadata: Record<string, string>, Body: string]> = {
      'a changed one': [{ ...rest, [seal]: changed.toString('base64') }, ''],
      none: [rest, ''],
      'no seal at all': [{ ...rest, [seal]: 'AAAA' }, ''],
      'that of another': [{ ...rest, [seal]: theirs[seal] as string }, ''],
      'another object': [theirs, ''],
    };
    if (kind === 'minio') forgeries['a body'] = [Metadata, 'body'];
    for (const [label, [forged, Body]] of Object.entries(forgeries)) {
      await rig.store.client.send(new PutObjectCommand({ ...at('good/'), Metadata: forged, Body }));
      assert.is(await refused('good/'), 'InternalError', label);
      assert.is(await refused('good/', 'bytes=0-'), 'InternalError', `${label}, a range`);
    }
    await rig.store.client.send(new PutObjectCommand({ ...at('good/'), Metadata, Body: '' }));
    assert.is(await refused('good/'), 'read');
    assert.is.not(await refused('good/', 'bytes=0-'), 'InternalError');
  });

  test.run();
}
