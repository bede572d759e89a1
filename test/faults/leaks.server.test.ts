import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fileOf, flip, MiB, putParts } from '../attacks/support/stored.ts';
import { descriptorsOf } from '../support/descriptors.ts';
import { rawHttp } from '../support/raw-http.ts';
import { rawState } from '../support/raw-state.ts';
import { repetitions } from '../support/repetitions.ts';
import { type Rig, type RiggedProxy, startRig } from '../support/rig.ts';
import { waitFor } from '../support/wait-for.ts';
import { cutDownload, cutUpload } from './support/cut-off.ts';

const size = 6 * MiB;
/** Before and after the first measure. Each holds 18 requests: one descriptor or 4 MiB left by each cycle would show, nightly 2 MiB. */
const cycles = { before: repetitions(2, 3), after: repetitions(8, 15) };
const mayGrow = { descriptors: cycles.after / 2, bytes: 28 * MiB };

const test = suite('what many failures leave behind');
let rig: Rig;
const kept = randomBytes(size);

test.before(async () => {
  rig = await startRig();
});
test.after(() => rig?.stop());

const at = (via: RiggedProxy, key: string) => `${via.url}/${rig.bucket}/${key}`;
const put = (via: RiggedProxy, key: string, body: Uint8Array, headers = {}) =>
  rawHttp(at(via, key), { method: 'PUT', body, headers });

async function store(via: RiggedProxy): Promise<void> {
  for (const Key of ['kept', 'broken'])
    await via.s3.send(new PutObjectCommand({ Bucket: rig.bucket, Key, Body: kept }));
  await putParts(via.s3, rig.bucket, 'broken-parts', [kept, kept]);
  for (const key of ['broken', 'broken-parts'])
    writeFileSync(fileOf(rig, key), flip(-20)(readFileSync(fileOf(rig, key))));
}

/** Callers that go away, send nonsense or read what was tampered with. */
async function badCallers(via: RiggedProxy): Promise<void> {
  const upload = { url: via.url, path: `/${rig.bucket}/new`, announced: size };
  await Promise.all([
    cutUpload({ ...upload, sent: 1000, manner: 'fin' }),
    cutUpload({ ...upload, sent: size / 2, manner: 'reset' }),
    cutUpload({ ...upload, sent: size / 2, manner: 'fin', chunked: true }),
    cutDownload(at(via, 'kept'), 100_000, 'reset'),
    cutDownload(at(via, 'kept'), 1000, 'fin'),
    put(via, 'new', kept, { 'content-md5': 'AAAAAAAAAAAAAAAAAAAAAA==' }),
    rawHttp(at(via, 'broken')),
    rawHttp(at(via, 'broken-parts')),
    rawHttp(at(via, 'broken'), { headers: { range: 'bytes=0-9' } }),
    rawHttp(at(via, 'missing')),
  ]);
}

/** A store that cuts, refuses, is away. */
async function badStore(via: RiggedProxy): Promise<void> {
  const get = () => rawHttp(at(via, 'kept'));
  const send = () => put(via, 'new', kept);
  rig.toStore.cutAfter(300_000, 'to-client', 'reset');
  await Promise.all([get(), get()]);
  await rig.toStore.heal();
  rig.toStore.cutAfter(300_000, 'to-server', 'fin');
  await Promise.all([send(), send()]);
  await rig.toStore.heal();
  rig.toStore.answer(503, '<Error><Code>SlowDown</Code></Error>');
  await Promise.all([get(), send()]);
  await rig.toStore.refuse();
  await Promise.all([get(), send()]);
  await rig.toStore.heal();
}

/** A key server that is away for all that is in flight. */
async function badKeyServer(via: RiggedProxy): Promise<void> {
  await rig.toVault.refuse();
  await Promise.all(
    ['kept', 'kept', 'broken'].map((key) => rawHttp(at(via, key))).concat(put(via, 'new', kept)),
  );
  await rig.toVault.heal();
  await waitFor('recovery', async () => (await rawHttp(at(via, 'kept'))).status === 200);
}

async function settled(via: RiggedProxy): Promise<void> {
  await waitFor('the end of what was cut', async () => {
    const { body } = await rawHttp(`${via.health}/metrics`);
    return /^svc_proxy_requests_in_flight\S* 0$/m.test(body.toString());
  });
  await waitFor('closed files', () => spooled(via).length === 0, { details: () => spooled(via).join('\n') });
}

const spooled = ({ pid }: RiggedProxy) =>
  descriptorsOf(pid).files.filter((file) => file.includes('.svc-spool-'));

/** Taken when nothing is in flight. */
async function measure(via: RiggedProxy) {
  await settled(via);
  const { sockets, files } = descriptorsOf(via.pid);
  return { descriptors: sockets + files.length, resident: via.rss().now };
}

async function failures(via: RiggedProxy, count: number): Promise<void> {
  for (let cycle = 0; cycle < count; cycle++) {
    await badCallers(via);
    await badStore(via);
  }
  await badKeyServer(via);
}

for (const [label, args] of [
  ['default', []],
  ['strict', ['--strict', '--verify-buffer', '64KiB', '--verify-budget', '1MiB']],
] as const)
  test(`no descriptors, no files, no memory and nothing in the store (${label})`, async () => {
    const proxy = await rig.proxy({ args });
    await store(proxy);
    const before = await rawState(rig);
    await failures(proxy, cycles.before);
    const early = await measure(proxy);
    await failures(proxy, cycles.after);
    const late = await measure(proxy);
    const grown = late.descriptors - early.descriptors;
    assert.ok(grown <= mayGrow.descriptors, `${early.descriptors} descriptors became ${late.descriptors}`);
    const bytes = late.resident - early.resident;
    assert.ok(bytes <= mayGrow.bytes, `${early.resident} bytes became ${late.resident}`);
    assert.equal(await rawState(rig), before);
    assert.ok((await rawHttp(at(proxy, 'kept'))).body.equals(kept));
  });

test.run();
