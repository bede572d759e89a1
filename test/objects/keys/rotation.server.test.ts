import { randomBytes } from 'node:crypto';
import {
  type CompletedPart,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Rig, type RiggedProxy, startRig } from '../../support/rig.ts';

const MiB = 1024 * 1024;
const single = randomBytes(3000);
const parts = [randomBytes(5 * MiB), randomBytes(77)] as const;
const whole = Buffer.concat(parts);

const test = suite('rotation of the key that wraps keys');
let rig: Rig;
let proxy: RiggedProxy;
/** Keeps the part lists in manifests, which are too long for headers in larger objects. */
let pointing: RiggedProxy;
let begun: Upload;

test.before(async () => {
  rig = await startRig();
  [proxy, pointing] = await Promise.all([rig.proxy(), rig.proxy({ args: ['--inline-limit', '0'] })]);
  for (const key of ['old', 'overwritten', 'source']) await put(key);
  for (const key of ['old-parts', 'source-parts']) await (await upload(proxy, key).both()).complete();
  await (await upload(pointing, 'old-manifest').both()).complete();
  begun = await upload(proxy, 'begun').part(1);
  await rig.bao.rotate();
});
test.after(() => rig?.stop());

const at = (Key: string) => ({ Bucket: rig.bucket, Key });
const put = (key: string, body = single) => proxy.s3.send(new PutObjectCommand({ ...at(key), Body: body }));

async function get(key: string, Range?: string): Promise<Buffer> {
  const wish = { ...at(key), ...(Range === undefined ? {} : { Range }) };
  const { Body } = await proxy.s3.send(new GetObjectCommand(wish));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

interface Upload {
  part(number: 1 | 2): Promise<Upload>;
  both(): Promise<Upload>;
  complete(): Promise<void>;
}

function upload({ s3 }: RiggedProxy, key: string): Upload {
  const created = s3.send(new CreateMultipartUploadCommand(at(key)));
  const done: CompletedPart[] = [];
  const self: Upload = {
    async part(PartNumber) {
      const { UploadId } = await created;
      const Body = PartNumber === 1 ? parts[0] : parts[1];
      const { ETag } = await s3.send(new UploadPartCommand({ ...at(key), UploadId, PartNumber, Body }));
      done.push({ PartNumber, ETag });
      return self;
    },
    both: async () => (await self.part(1)).part(2),
    async complete() {
      const { UploadId } = await created;
      const MultipartUpload = { Parts: done };
      await s3.send(new CompleteMultipartUploadCommand({ ...at(key), UploadId, MultipartUpload }));
    },
  };
  return self;
}

/** The version in the header, and those of all wrapped keys that the store's metadata holds. */
async function versions(key: string): Promise<[header: string | undefined, wrapped: string[]]> {
  const { Metadata = {} } = await rig.store.client.send(new HeadObjectCommand(at(key)));
  const wrapped = [...(Metadata['svc-wrapped-dek'] ?? '').matchAll(/vault:v(\d+):/g)];
  return [Metadata['svc-key-version'], wrapped.map(([, version = '']) => version)];
}

const copy = (from: string, to: string, more: object = {}) =>
  proxy.s3.send(new CopyObjectCommand({ ...at(to), CopySource: `${rig.bucket}/${from}`, ...more }));

test('what was written before keeps its version and reads, whole and by ranges', async () => {
  assert.equal(await versions('old'), ['1', ['1']]);
  assert.equal(await versions('old-parts'), ['1', ['1', '1', '1']]);
  assert.equal(await versions('old-manifest'), ['1', ['1']]);
  assert.ok((await get('old')).equals(single));
  for (const key of ['old-parts', 'old-manifest']) {
    assert.ok((await get(key)).equals(whole), key);
    assert.ok(
      (await get(key, `bytes=${5 * MiB - 4}-${5 * MiB + 3}`)).equals(
        whole.subarray(5 * MiB - 4, 5 * MiB + 4),
      ),
    );
  }
});

test('what is written from now on carries the new version, an overwrite too', async () => {
  for (const key of ['new', 'overwritten']) {
    await put(key);
    assert.equal(await versions(key), ['2', ['2']], key);
    assert.ok((await get(key)).equals(single), key);
  }
  await (await upload(proxy, 'new-parts').both()).complete();
  assert.equal(await versions('new-parts'), ['2', ['2', '2', '2']]);
  assert.ok((await get('new-parts')).equals(whole));
});

test('a copy is wrapped under the new version, its source stays as it was', async () => {
  await copy('source', 'copied');
  await copy('source-parts', 'copied-parts');
  assert.equal(await versions('copied'), ['2', ['2']]);
  assert.equal(await versions('copied-parts'), ['2', ['2', '2', '2']]);
  assert.equal(await versions('source'), ['1', ['1']]);
  assert.equal(await versions('source-parts'), ['1', ['1', '1', '1']]);
  assert.ok((await get('copied')).equals(single));
  assert.ok((await get('copied-parts')).equals(whole));
});

test('a copy onto itself moves an object to the new version', async () => {
  for (const [key, body] of [
    ['source', single],
    ['source-parts', whole],
  ] as const) {
    await copy(key, key, { MetadataDirective: 'REPLACE', ContentType: 'text/moved' });
    assert.is((await versions(key))[0], '2', key);
    assert.equal([...new Set((await versions(key))[1])], ['2'], key);
    assert.ok((await get(key)).equals(body), key);
  }
});

test('an upload begun before is completed after', async () => {
  await begun.part(2);
  await begun.complete();
  assert.equal(await versions('begun'), ['1', ['1', '2', '1']], 'the header names the version of the seal');
  assert.ok((await get('begun')).equals(whole));
  assert.ok((await get('begun', 'bytes=-7')).equals(whole.subarray(-7)));
});

test('a part copied from an old object is encrypted anew', async () => {
  const { UploadId } = await proxy.s3.send(new CreateMultipartUploadCommand(at('from-old')));
  const CopySource = `${rig.bucket}/old-parts`;
  const part = { ...at('from-old'), UploadId, PartNumber: 1, CopySource, CopySourceRange: 'bytes=9-99' };
  const { CopyPartResult } = await proxy.s3.send(new UploadPartCopyCommand(part));
  const MultipartUpload = { Parts: [{ PartNumber: 1, ETag: CopyPartResult?.ETag }] };
  await proxy.s3.send(new CompleteMultipartUploadCommand({ ...at('from-old'), UploadId, MultipartUpload }));
  assert.equal(await versions('from-old'), ['2', ['2', '2']]);
  assert.ok((await get('from-old')).equals(whole.subarray(9, 100)));
});

test('once the old version may no longer be used, old objects are refused and the log says why', async () => {
  await rig.bao.request('POST', 'transit/keys/svc/config', { min_decryption_version: 2 });
  for (const key of ['new', 'overwritten', 'source', 'copied'])
    assert.ok((await get(key)).equals(single), key);
  for (const key of ['new-parts', 'source-parts', 'copied-parts'])
    assert.ok((await get(key)).equals(whole), key);
  for (const key of ['old', 'old-parts', 'old-manifest', 'begun']) {
    const error: Error = await get(key).then(
      () => new Error('was served'),
      (refused) => refused,
    );
    assert.is(error.name, 'InternalError', key);
  }
  assert.match(proxy.output(), 'min_decryption_version');
});

test.run();
