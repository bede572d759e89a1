import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import {
  GetObjectCommand,
  PutObjectCommand,
  type S3Client,
  type S3ServiceException,
} from '@aws-sdk/client-s3';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { usualPort } from '../../../src/plugins/dev/index.ts';
import { ensureBuilt } from '../../cli/support/svc.ts';
import { rejection } from '../../keyserver/rejection.ts';
import { http } from '../../support/http.ts';
import { isRunning } from '../../support/is-running.ts';
import { s3Client } from '../../support/object-store.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type DevFacts, runDev, runDevUnder, startDev } from './run-dev.ts';

export const slow = true;

export const idle = true;

const test = suite<{ folder: TemporaryFolder }>('svc dev');

test.before(ensureBuilt);
test.before.each((context) => {
  context.folder = temporaryFolder('dev');
});
test.after.each(({ folder }) => folder.remove());

/** A user without capabilities and without any memory that it may lock. */
const ordinary = [
  ...['prlimit', '--memlock=0'],
  ...(process.getuid?.() === 0
    ? 'setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set=-all --inh-caps=-all'.split(' ')
    : []),
];

const clientOf = ({ proxy, client }: DevFacts): Promise<S3Client> => s3Client({ ...client, endpoint: proxy });

async function read(s3: S3Client, Key: string): Promise<string | undefined> {
  const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'dev', Key }));
  return Body?.transformToString();
}

test('--once shows both round trips and ends well, leaving nothing behind', async ({ folder }) => {
  const { status, stdout, stderr } = await runDev(folder.path, '--once', '--listen', '127.0.0.1:0');
  assert.is(status, 0, stderr);
  assert.is(stderr, '');
  assert.match(stdout, /For development only\. Keys and objects are in memory/);
  assert.match(stdout, /1 {2}What you wrote to s3:\/\/dev\/hello\.txt: 48 bytes/);
  assert.match(stdout, /2 {2}What the store holds: 76 bytes/);
  assert.match(stdout, /3 {2}What you read back: 48 bytes, the same as you wrote/);
  assert.is(stdout.match(/Nobody but the h\n/g)?.length, 2);
  assert.match(stdout, /^ {3}nonce {7}([0-9a-f]{2} ){12} *\S/m);
  assert.match(stdout, /^ {3}tag {9}([0-9a-f]{2} ){15}[0-9a-f]{2} /m);
  assert.match(stdout, /x-amz-meta-svc-wrapped-dek +vault:v1:/);
  assert.match(stdout, /GET \/ +\{"keys":\["DB_USER","DB_PASSWORD","API_KEY"\],"count":3\}\n/);
  assert.match(stdout, /GET \/health +\{"status":"ok","delivery":"(memfd_secret|env_vars)"\}\n/);
  assert.match(stdout, /\{"key":"API_KEY","available":true,"value":"v1\*\*\*\*.."\}\]\}\n/);
  assert.match(stdout, /after +\{"key":"API_KEY","available":true,"value":"v2\*\*\*\*.."\}\n/);
  assert.not.ok(stdout.includes('\u001b'));
  assert.ok(stdout.split('\n').every((line) => line.length <= 80));
  assert.equal(readdirSync(folder.path), []);
});

/** For ourselves, whoever on this host has it at the moment. */
function holdUsualPort(): Promise<Server> {
  return waitFor('the usual port', async () => {
    const server = createServer().listen(usualPort, '127.0.0.1');
    await once(server, 'listening');
    return server;
  });
}

test('beside somebody who has its port it takes another and says so, unless it was given that one', async ({
  folder,
}) => {
  const holder = await holdUsualPort();
  try {
    const beside = await runDev(folder.path, '--once');
    assert.is(beside.status, 0, beside.stderr);
    assert.match(beside.stdout, /\(8190 was taken\)/);
    const taken = await runDev(folder.path, '--once', '--listen', `127.0.0.1:${usualPort}`);
    assert.is(taken.status, 78);
    assert.match(taken.stderr, /is taken by another process \(PROXY_ADDRESS\)/);
  } finally {
    holder.close();
  }
});

/** All with one folder, each with what the one before has left in it. */
const kept = suite<{ folder: TemporaryFolder; data: string }>('svc dev --data');

kept.before(async (context) => {
  await ensureBuilt();
  context.folder = temporaryFolder('dev-data');
  context.data = join(context.folder.path, 'data');
});
kept.after(({ folder }) => folder.remove());

kept('keeps objects and their keys, and the folder for itself while it runs', async ({ folder, data }) => {
  const { child, facts } = await startDev(folder.path, '--data', data);
  const s3 = await clientOf(facts);
  await s3.send(new PutObjectCommand({ Bucket: 'dev', Key: 'kept/ä', Body: 'still there' }));
  s3.destroy();
  assert.match(
    (await runDev(folder.path, '--once', '--data', data)).stderr,
    /in use by process \d+ \(DEV_DATA\)/,
  );
  await child.end('SIGTERM');
  assert.equal(readdirSync(data).sort(), ['keys.json', 'store']);
});

kept('has them after a restart, and gives out no stored body that was changed', async ({ folder, data }) => {
  const { child, facts } = await startDev(folder.path, '--data', data);
  const s3 = await clientOf(facts);
  assert.is(await read(s3, 'kept/ä'), 'still there');
  const blobs = readdirSync(join(data, 'store', 'blobs')).map((name) => join(data, 'store', 'blobs', name));
  const blob = blobs.find((path) => readFileSync(path, 'hex') === facts.roundTrip.stored) ?? '';
  const body = readFileSync(blob);
  body[20] = (body[20] ?? 0) ^ 1;
  writeFileSync(blob, body);
  const refused = (await rejection(read(s3, facts.roundTrip.key))) as S3ServiceException;
  assert.is(refused.$metadata.httpStatusCode, 500);
  s3.destroy();
  await child.end();
});

kept('ends with the reason where a round trip fails', async ({ folder, data }) => {
  const keys = JSON.parse(readFileSync(join(data, 'keys.json'), 'utf8'));
  keys.mounts.transit.svc.versions = ['AAAA'];
  writeFileSync(join(data, 'keys.json'), JSON.stringify(keys));
  const { status, stdout, stderr } = await runDev(folder.path, '--once', '--data', data);
  assert.is(status, 1);
  assert.match(stderr, /Error: The round trip failed: .*\(DEV_ROUND_TRIP\)/);
  assert.match(stderr, /Next:/);
  assert.not.match(stdout, /What you read back/);
  const asJson = await runDev(folder.path, '--once', '--json', '--data', data);
  assert.is(asJson.status, 1);
  assert.is(JSON.parse(asJson.stdout).error.code, 'DEV_ROUND_TRIP');
});

test('when the wrapper dies it says so, ends the demo, and goes on', async ({ folder }) => {
  const { child, facts } = await startDev(folder.path);
  process.kill(facts.wrapper.pid, 'SIGKILL');
  await waitFor('the message', () => /The wrapper ended by SIGKILL/.test(child.logs()));
  assert.is(isRunning(facts.wrapper.applicationPid), false);
  const s3 = await clientOf(facts);
  assert.is(await read(s3, 'hello.txt'), 'Nobody but the holder of the key reads this text');
  s3.destroy();
  assert.equal(await child.end(), { code: 0, signal: null });
});

test('without the right to lock memory it says what it leaves out', async ({ folder }) => {
  chmodSync(folder.path, 0o777);
  const { status, stdout, stderr } = await runDevUnder(ordinary, folder.path, '--once');
  assert.is(status, 0, stderr);
  const text = stdout.replace(/\s+/g, ' ');
  assert.match(text, /CAP_IPC_LOCK is not effective .* So the wrapper runs with SVC_REQUIRE_MLOCK=false\./);
  assert.match(text, /So it delivers by the environment: SVC_DELIVERY=env\./);
  assert.match(text, /"delivery":"env_vars"/);
  assert.match(text, /environment of the program holds: 3 of the 3 values/);
  assert.match(
    text,
    /A new version of secret\/demo\/api: the demo was restarted before .*v1\*.* after .*v2\*/,
  );
  assert.ok(stdout.split('\n').every((line) => line.length <= 80));
});

/** One process serves the tests up to the one that ends it. */
const running = suite<{ folder: TemporaryFolder; dev: Awaited<ReturnType<typeof startDev>> }>(
  'svc dev, running',
);

running.before(async (context) => {
  await ensureBuilt();
  context.folder = temporaryFolder('dev');
  context.dev = await startDev(context.folder.path);
});
running.after(async ({ folder, dev }) => {
  await dev?.child.stop();
  await folder.remove();
});

running('stays up for a client, and tells a script where', async ({ dev: { facts } }) => {
  assert.is(facts.roundTrip.equal, true);
  assert.is(facts.roundTrip.stored.length, 2 * 76);
  assert.is((await http(`${facts.health}/readyz`)).status, 200);
  assert.is((await http(`${facts.keyServer}/v1/sys/health`)).status, 200);
  const s3 = await clientOf(facts);
  await s3.send(new PutObjectCommand({ Bucket: 'dev', Key: 'mine', Body: 'my secret' }));
  const stored = await http(`${facts.peek}/dev/mine`);
  assert.is(stored.status, 200);
  assert.not.match(stored.text, /my secret/);
  assert.is(await read(s3, 'mine'), 'my secret');
  s3.destroy();
});

running(
  'its demo keeps its secrets out of its environment, and follows a change',
  async ({ dev: { facts } }) => {
    const { wrapper, try: lines } = facts;
    assert.is(wrapper.environment.of, 3);
    assert.is(wrapper.environment.found, wrapper.delivery === 'fd' ? 0 : 3);
    const environment = readFileSync(`/proc/${wrapper.applicationPid}/environ`, 'utf8');
    assert.is(/v[12]-/.test(environment), wrapper.delivery === 'env');
    assert.not.match(environment, /VAULT_/);
    assert.is((await http(`${wrapper.health}/readyz`)).status, 200);
    const [, token = '', body = '', url = ''] =
      /'X-Vault-Token: (.*)' -d '(.*)' (.*)$/.exec(lines.change) ?? [];
    const written = await http(url, { method: 'POST', headers: { 'x-vault-token': token }, body });
    assert.equal([written.status, written.json.data.version], [200, 3]);
    await waitFor('the change', async () =>
      (await http(`${wrapper.demo}/protected`)).text.includes('"value":"v3****nd"'),
    );
  },
);

running('ends with 0 on a signal, and its demo with it', async ({ dev: { child, facts } }) => {
  assert.equal(await child.end('SIGINT'), { code: 0, signal: null });
  assert.equal([facts.wrapper.pid, facts.wrapper.applicationPid].filter(isRunning), []);
});

test.run();
running.run();
kept.run();
