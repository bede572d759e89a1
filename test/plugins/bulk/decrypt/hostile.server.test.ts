import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { filesBelow } from '../../../objects/format/python-reader.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import type { BulkSetting } from '../bulk-command.ts';
import { decrypt, reportOf } from './decrypting.ts';
import { HostileStore, type Responder } from './hostile-store.ts';

interface Context {
  readonly store: HostileStore;
  readonly setting: BulkSetting;
  readonly folder: TemporaryFolder;
}

const test = suite<Context>('svc proxy decrypt, from a hostile store');

test.before(async (context) => {
  const store = new HostileStore();
  const target = { endpoint: await store.listen(), region: 'eu-central-1', accessKeyId: 'AKIDEXAMPLE' };
  const setting: BulkSetting = {
    store: { ...target, secretAccessKey: 'not-a-secret' },
    vault: { addr: 'http://127.0.0.1:1', token: 'unused' },
  };
  Object.assign(context, { store, setting, folder: temporaryFolder('hostile') });
});

test.after(async ({ store, folder }) => {
  store?.close();
  await folder?.remove();
});

const plain = (to: string) =>
  new Map(
    [...filesBelow(to)]
      .filter(([name]) => !name.startsWith('%svc-decrypt/'))
      .map(([name, bytes]) => [name, bytes.toString()]),
  );

const keys = [
  '../../escape',
  '../../../../../../../../tmp/svc-hostile-escape',
  '/absolute',
  '.',
  '..',
  'a',
  'a/b',
  'a/b/c',
  'nul\0byte',
  'line\nfeed \u001b[31m',
  '-rf',
  '%svc-decrypt',
  '%svc-decrypt/lock',
  '%svc-decrypt/journal-1.jsonl',
  '%2E%2E/x',
  'folder/',
  'folder//',
  'z'.repeat(1024),
  `${'y'.repeat(255)}/y`,
];

test('keys that lead elsewhere, or to each other, come out below the folder, each in a file of its own', async ({
  store,
  setting,
  folder,
}) => {
  store.objects = keys.map((key) => [key, `of ${key}`]);
  const parent = join(folder.path, 'keys');
  mkdirSync(parent);
  const to = join(parent, 'to');
  const result = await decrypt(setting, 's3://bucket', to, '--json');
  assert.is(result.status, 0, result.stdout);
  assert.equal(readdirSync(parent), ['to']);
  assert.is(reportOf(result).unencrypted, keys.length);
  assert.equal([...plain(to).values()].sort(), keys.map((key) => `of ${key}`).sort());
  // the folder, or the file of the key `..`, whichever came first has the name
  const escapes = ['%2E%2E/%2E%2E/escape', '%2E%2E%2F/%2E%2E/escape'].map((path) => plain(to).get(path));
  assert.ok(escapes.includes('of ../../escape'), [...plain(to).keys()].join('\n'));
  assert.is(statSync('/tmp/svc-hostile-escape', { throwIfNoEntry: false }), undefined);
  const again = reportOf(await decrypt(setting, 's3://bucket', to, '--json'));
  assert.equal([again.done, again.skipped], [0, keys.length]);
  const text = await decrypt(setting, 's3://bucket', join(parent, 'text'));
  assert.not.ok(text.stdout.includes('\u001b'));
});

test('what is cut, odd or contradictory is reported, leaves nothing, and does not keep the others', async ({
  store,
  setting,
  folder,
}) => {
  const status =
    (code: number, headers = {}): Responder =>
    (response) =>
      void response.writeHead(code, headers).end('forged');
  store.objects = [
    ['good', 'good'],
    [
      'cut\u001b[31m',
      (response) =>
        void response.writeHead(200, { 'content-length': 100 }).write('x', () => response.destroy()),
    ],
    ['partial', status(200, { 'x-amz-meta-svc-encrypted': 'true', 'content-length': 6 })],
    ['part-of-it', status(206, { 'content-length': 6 })],
    ['elsewhere', status(301, { location: 'http://127.0.0.1:1/' })],
    ['denied', status(403)],
    [`long/${'k'.repeat(5000)}`, 'long'],
    ['late', 'late'],
  ];
  const to = join(folder.path, 'odd');
  const result = await decrypt(setting, 's3://bucket', to, '--json');
  assert.is(result.status, 1, result.stdout);
  const { faults, done } = reportOf(result);
  assert.is(done, 2);
  assert.equal(faults.map(({ key, reason }) => `${key.slice(0, 20)} ${reason}`).sort(), [
    'cut\u001b[31m ServiceUnavailable',
    'denied AccessDenied',
    'elsewhere InternalError',
    'long/kkkkkkkkkkkkkkk KeyTooLongError',
    'part-of-it wrong-size',
    'partial partial-metadata',
  ]);
  assert.equal(
    [...plain(to)],
    [
      ['good', 'good'],
      ['late', 'late'],
    ],
  );
  assert.equal(readdirSync(join(to, '%svc-decrypt')), ['journal-1.jsonl']);
  const text = await decrypt(setting, 's3://bucket', to);
  assert.not.ok(text.stdout.includes('\u001b'));
  const counted = reportOf(await decrypt(setting, 's3://bucket', to, '--dry-run', '--json'));
  assert.is(counted.skipped, 2);
});

test('a listing without end, and one that is none, end the run', async ({ store, setting, folder }) => {
  store.objects = [['a', 'a']];
  const to = join(folder.path, 'endless');
  const listings = [
    '<IsTruncated>true</IsTruncated><NextContinuationToken>same</NextContinuationToken>',
    '<IsTruncated>true</IsTruncated>',
    `<Name>${'n'.repeat(9 * 1024 * 1024)}</Name>`,
    '<Contents>',
  ];
  for (const listing of listings) {
    store.listing = listing;
    const result = await decrypt(setting, 's3://bucket', to, '--json');
    assert.is(result.status, 69, result.stdout);
    assert.is(reportOf(result).error?.code, 'DECRYPT_STORE_FAILED');
  }
  store.listing = '<IsTruncated>false</IsTruncated>';
  assert.is((await decrypt(setting, 's3://bucket', to)).status, 0);
});

test('a journal that was cut in the middle of a line, or is not one, costs no more than reading again', async ({
  store,
  setting,
  folder,
}) => {
  store.objects = ['a', 'b', 'c'].map((key) => [key, key]);
  const to = join(folder.path, 'journal');
  assert.is((await decrypt(setting, 's3://bucket', to)).status, 0);
  const path = join(to, '%svc-decrypt', 'journal-1.jsonl');
  const text = readFileSync(path, 'utf8');
  const lines = text.trimEnd().split('\n');
  writeFileSync(path, `${lines[0]}\n\0\n[]\nnull\n${lines[1]}\n${lines[2]?.slice(0, 20)}`);
  const { done, skipped, renamed } = reportOf(await decrypt(setting, 's3://bucket', to, '--json'));
  assert.equal([done, skipped, renamed], [2, 1, []]);
  assert.equal([...plain(to).keys()], ['a', 'b', 'c']);
});

test('an object that is listed twice with other content never replaces the first silently', async ({
  store,
  setting,
  folder,
}) => {
  let times = 0;
  const changing: Responder = (response) => void response.end(`body ${times++}`);
  store.objects = [
    ['twice', changing, 'e1'],
    ['twice', changing, 'e2'],
  ];
  const to = join(folder.path, 'twice');
  const { done, renamed } = reportOf(
    await decrypt(setting, 's3://bucket', to, '--json', '--concurrency', '1'),
  );
  assert.equal([done, renamed.length], [2, 1]);
  assert.is(plain(to).size, 2);
});

test.run();
