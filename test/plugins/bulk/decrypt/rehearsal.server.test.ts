import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import {
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { CheckReport } from '../../../../src/plugins/validate/report.ts';
import { type Bed, BUCKET, MiB, startBed } from '../../../clients/bed.ts';
import { type AgeKey, ageKey } from '../../../support/age-keys.ts';
import { listen } from '../../../support/loopback.ts';
import {
  type MeddlingStore,
  type StoreRequest,
  startMeddlingStore,
} from '../../../support/meddling-store.ts';
import { s3Client } from '../../../support/object-store.ts';
import { startSvcProxy } from '../../../support/svc-proxy.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import type { CommandResult, SvcProxy } from '../../../support/types.ts';
import { reportOf, runValidate, statesOf } from '../../validate/run-validate.ts';
import { put, read, storedMetadata, upload } from '../rewrap/rewrapping.ts';

interface Context {
  readonly bed: Bed;
  readonly two: SvcProxy;
  readonly twoClient: S3Client;
  readonly unset: SvcProxy;
  readonly unsetClient: S3Client;
  readonly relay: MeddlingStore;
  readonly keyServer: Server;
  readonly folder: TemporaryFolder;
  readonly key: AgeKey;
  readonly variables: (more?: Readonly<Record<string, string>>) => Record<string, string>;
}

const test = suite<Context>('a rehearsal of losing the key server');

const [keysReadable, sealed, opens] = ['SVC-RECOVERY-001', 'SVC-RECOVERY-002', 'SVC-RECOVERY-003'] as const;
/** In a place of which nothing is left but its address. */
let connections = 0;
const requests: StoreRequest[] = [];

test.before(async (context) => {
  const key = ageKey();
  const args = ['--recovery-recipient', key.recipient, '--inline-limit', '8MiB'];
  const bed = await startBed({ args });
  const folder = temporaryFolder('rehearsal');
  Object.assign(context, { bed, key, folder });
  const vault = { addr: bed.bao.url, token: await bed.bao.policyToken() };
  const two = await startSvcProxy({ vault, upstream: bed.store, args: [...args, '--format', '2'] });
  Object.assign(context, { two, twoClient: await s3Client(two.target) });
  const unset = await startSvcProxy({ vault, upstream: bed.store, args: ['--inline-limit', '8MiB'] });
  Object.assign(context, { unset, unsetClient: await s3Client(unset.target) });
  const relay = await startMeddlingStore(bed.store.endpoint);
  relay.meddle({ before: (request) => void requests.push(request) });
  const keyServer = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  const { port } = await listen(keyServer);
  const file = key.write(join(folder.path, 'recovery.key'));
  Object.assign(context, {
    ...{ relay, keyServer },
    variables: (more: Readonly<Record<string, string>> = {}) => ({
      AWS_ACCESS_KEY_ID: bed.store.accessKeyId,
      AWS_SECRET_ACCESS_KEY: bed.store.secretAccessKey,
      AWS_REGION: bed.store.region,
      AWS_EC2_METADATA_DISABLED: 'true',
      SVC_PROXY_UPSTREAM: relay.url,
      SVC_VALIDATE_BUCKET: BUCKET,
      SVC_VALIDATE_READ_WHOLE: '6MiB',
      SVC_PROXY_RECOVERY_KEY_FILE: file,
      VAULT_ADDR: `http://127.0.0.1:${port}`,
      VAULT_TOKEN: 'planted-token',
      ...more,
    }),
  });
});

test.after(async ({ bed, two, twoClient, unset, unsetClient, relay, keyServer, folder }) => {
  twoClient?.destroy();
  unsetClient?.destroy();
  await two?.stop();
  await unset?.stop();
  await relay?.stop();
  keyServer?.close();
  await bed?.stop();
  await folder?.remove();
});

const rehearse = (env: Record<string, string>): Promise<CommandResult> =>
  runValidate({ pre: false, 'rehearse-recovery': true }, env);

const foundIn = (run: CommandResult, id: string): readonly string[] =>
  reportOf(run, id)
    .findings.map(({ subject, message }) => `${subject} ${message}`)
    .sort();

test('objects of every shape are written, some of them so that no recovery key opens them', async ({
  bed,
  twoClient,
  unsetClient,
}) => {
  const { client, payload, store } = bed;
  for (const key of ['kept/a', 'kept/b']) await put(client, key, payload(100));
  for (const [format, writer] of [
    [1, client],
    [2, twoClient],
  ] as const) {
    await put(writer, `good/${format}/empty`, Buffer.alloc(0));
    await put(writer, `good/${format}/small`, payload(100));
    await put(writer, `good/${format}/segments`, payload(3 * MiB + 1));
    await put(writer, `good/${format}/large`, payload(7 * MiB));
    await upload({ client: writer, payload }, `good/${format}/inline`, 2);
    await upload({ client: writer, payload }, `good/${format}/manifest`, 4);
  }
  await put(store.client, 'good/plain', payload(10));
  await put(unsetClient, 'good/healed', payload(10));
  await upload({ client: unsetClient, payload }, 'good/healed parts', 3);
  for (const name of ['healed', 'healed parts'])
    await client.send(
      new CopyObjectCommand({
        ...{ Bucket: BUCKET, Key: `good/${name}`, CopySource: `${BUCKET}/good/${name}` },
        MetadataDirective: 'REPLACE',
      }),
    );
  await put(store.client, 'plain/only', payload(10));

  await put(client, 'bad/from', payload(10));
  await put(client, 'bad/moved', payload(10));
  const Metadata = await storedMetadata(store.client, 'bad/moved');
  const body = await read(store.client, 'bad/moved');
  const { 'svc-recovery': theirs = '' } = await storedMetadata(store.client, 'bad/from');
  await put(store.client, 'bad/moved', body, { Metadata: { ...Metadata, 'svc-recovery': theirs } });
  await put(unsetClient, 'bad/unsealed', payload(10));
  for (const [name, writer, bytes, at] of [
    ['body', client, 1_000, 500],
    ['last segment', twoClient, 7 * MiB, -20],
  ] as const) {
    await put(writer, `bad/${name}`, payload(bytes));
    const stored = await read(store.client, `bad/${name}`);
    const place = (at + stored.length) % stored.length;
    stored[place] = (stored[place] as number) ^ 1;
    await put(store.client, `bad/${name}`, stored, {
      Metadata: await storedMetadata(store.client, `bad/${name}`),
    });
  }
  await completedElsewhere(client, unsetClient, payload, 'bad/completed elsewhere');
});

/** Its seal key is sealed to the recovery key, and the keys of its parts are not. */
async function completedElsewhere(
  client: S3Client,
  other: S3Client,
  payload: Bed['payload'],
  Key: string,
): Promise<void> {
  const at = { Bucket: BUCKET, Key };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(at));
  const Parts = [];
  for (const PartNumber of [1, 2]) {
    const Body = payload(5 * MiB);
    const { ETag } = await client.send(new UploadPartCommand({ ...at, UploadId, PartNumber, Body }));
    Parts.push({ PartNumber, ETag });
  }
  await other.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } }));
}

test('without the key server every object opens, and each is told', async ({ bed, variables }) => {
  await bed.bao.stop();
  const run = await rehearse(variables({ SVC_VALIDATE_PREFIX: 'good/' }));
  assert.is(run.status, 0, run.stdout + run.stderr);
  assert.equal(statesOf(run), { [keysReadable]: 'passed', [sealed]: 'passed', [opens]: 'passed' });
  const { reason, trusted, examined = [] } = reportOf(run, opens);
  assert.is(reason, '14 objects (9 to the end, 4 at both ends, 1 keys only) of 15 in box/good/');
  assert.is(
    trusted,
    'Of 5 objects larger than --read-whole the body was not read, or not all of it. Sampled objects that are not encrypted: 1.',
  );
  const found = Object.fromEntries(examined.map((one) => [one.subject, one.found]));
  assert.is(found['box/good/1/large'], 'format 1, its keys opened, no body read');
  assert.is(found['box/good/2/large'], 'format 2, read at its beginning and its end');
  assert.is(found['box/good/1/manifest'], 'format 1 in 4 parts, read at its beginning and its end');
  assert.is(found['box/good/2/empty'], 'format 2, read to its end');
});

test('nothing is written, large bodies are not fetched, and nobody calls the key server', async () => {
  assert.is(connections, 0);
  assert.ok(requests.length > 0);
  assert.equal([...new Set(requests.map(({ method }) => method))].sort(), ['GET', 'HEAD']);
  const ranges = requests
    .filter(
      ({ method, path }) => method === 'GET' && /^\/box\/good\/.\/large$/.test(path.split('?')[0] ?? ''),
    )
    .map(({ headers }) => headers.range);
  assert.equal(ranges, ['bytes=0-65551', `bytes=${111 * 65_552}-${112 * 65_552 - 1}`]);
});

test('a sample is of the size that was asked for, with the oldest, the newest and the largest', async ({
  variables,
}) => {
  const run = await rehearse(variables({ SVC_VALIDATE_PREFIX: 'good/', SVC_VALIDATE_SAMPLE: '1' }));
  assert.is(run.status, 0, run.stdout + run.stderr);
  const { examined = [] } = reportOf(run, opens);
  assert.ok(examined.length >= 1 && examined.length <= 4, run.stdout);
  assert.ok(
    examined.some(({ subject }) => subject.endsWith('/manifest')),
    run.stdout,
  );
});

test('what does not open is named with its reason', async ({ variables }) => {
  const run = await rehearse(variables({ SVC_VALIDATE_PREFIX: 'bad/' }));
  assert.is(run.status, 1, run.stdout + run.stderr);
  assert.equal(foundIn(run, sealed), [
    'box/bad/completed elsewhere not-recoverable: part 1 does not open under the seal key.',
    'box/bad/moved not-recoverable: none of the given recovery keys opens the object.',
    'box/bad/unsealed not-recoverable: the object is not sealed to any recovery key.',
  ]);
  assert.match(
    foundIn(run, opens).join('\n'),
    /^box\/bad\/body authentication-failed: .*\nbox\/bad\/last segment authentication-failed: .*$/,
  );
  assert.match(reportOf(run, sealed).fix ?? '', /--recovery-recipient/);
  assert.equal(
    reportOf(run, opens).examined?.map(({ subject }: { subject: string }) => subject),
    ['box/bad/from'],
  );
});

test('where no body is read, the keys of all parts are opened nevertheless', async ({ variables }) => {
  const env = { SVC_VALIDATE_PREFIX: 'bad/completed', SVC_VALIDATE_READ_WHOLE: '1MiB' };
  const run = await rehearse(variables(env));
  assert.is(run.status, 1, run.stdout + run.stderr);
  assert.match(foundIn(run, sealed).join(), /^box\/bad\/completed elsewhere not-recoverable: part 1 /);
});

test('another key opens nothing, and a file that holds none is told', async ({ variables, folder }) => {
  const other = ageKey().write(join(folder.path, 'other.key'));
  const env = { SVC_VALIDATE_PREFIX: 'good/1/' };
  const run = await rehearse(variables({ ...env, SVC_PROXY_RECOVERY_KEY_FILE: other }));
  assert.is(run.status, 1);
  assert.is(reportOf(run, sealed).findings.length, 6, run.stdout);
  const absent = await rehearse(variables({ ...env, SVC_PROXY_RECOVERY_KEY_FILE: '/nowhere/recovery.key' }));
  assert.is(absent.status, 1);
  assert.equal(statesOf(absent), { [keysReadable]: 'failed', [sealed]: 'skipped', [opens]: 'skipped' });
});

test('nothing is proved by nothing, nor by what the store does not show', async ({ variables }) => {
  const unknown = (run: CommandResult): CheckReport => {
    assert.is(run.status, 4, run.stdout + run.stderr);
    return reportOf(run, opens);
  };
  const prefix = (name: string) => ({ SVC_VALIDATE_PREFIX: name });
  assert.match(unknown(await rehearse(variables(prefix('none/')))).reason ?? '', /no objects in box\/none\//);
  assert.match(unknown(await rehearse(variables(prefix('plain/')))).reason ?? '', /is encrypted$/);
  const refused = variables({ AWS_SECRET_ACCESS_KEY: 'planted-wrong-secret' });
  const run = await rehearse(refused);
  assert.match(unknown(run).reason ?? '', /^It ended early: The object store .* refused bucket box/);
  assert.not.match(run.stdout + run.stderr, /planted/);
});

test('what the store lists and does not give out has failed, and what it lists no more is counted', async ({
  bed,
  relay,
  variables,
}) => {
  const env = variables({ SVC_VALIDATE_PREFIX: 'kept/' });
  const none = { status: 404, headers: {}, body: Buffer.alloc(0) };
  const without = (method: string) => ({
    before: (request: StoreRequest) =>
      request.method === method && request.path.includes('kept/b') ? none : undefined,
  });
  try {
    for (const method of ['HEAD', 'GET']) {
      relay.meddle(without(method));
      const run = await rehearse(env);
      assert.is(run.status, 1, `${method} ${run.stdout}`);
      assert.match(foundIn(run, opens).join('\n'), /^box\/kept\/b \w+: /);
    }
    let listings = 0;
    relay.meddle({
      async before({ method, path }) {
        if (path.includes('list-type') && listings++ > 0) return undefined;
        if (method !== 'HEAD' || !path.includes('kept/b')) return undefined;
        await bed.store.client.send(new DeleteObjectCommand({ Bucket: BUCKET, Key: 'kept/b' }));
        return undefined;
      },
    });
    const run = await rehearse(env);
    assert.is(run.status, 0, run.stdout);
    assert.match(run.stdout, /Sampled objects that were deleted meanwhile: 1\./);
  } finally {
    relay.meddle({ before: (request) => void requests.push(request) });
  }
});

test('a state bucket that is not there hides no part list', async ({ variables }) => {
  const env = { SVC_VALIDATE_PREFIX: 'good/', SVC_PROXY_STATE_BUCKET: 'no-such-bucket' };
  const run = await rehearse(variables(env));
  assert.is(run.status, 1, run.stdout);
  assert.match(foundIn(run, opens).join('\n'), /NoSuchBucket/);
});

test('a rehearsal without a bucket or a key is wrong usage', async ({ variables }) => {
  for (const missing of ['SVC_VALIDATE_BUCKET', 'SVC_PROXY_RECOVERY_KEY_FILE']) {
    const run = await rehearse(variables({ [missing]: '' }));
    assert.is(run.status, 3, run.stdout);
    assert.match(run.stdout + run.stderr, /--rehearse-recovery: needs --bucket and --recovery-key/);
  }
  assert.is(connections, 0);
});

test.run();
