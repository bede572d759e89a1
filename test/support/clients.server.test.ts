import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { clientsFor } from './clients.ts';
import type { Clients, CommandResult, ObjectStore } from './types.ts';
import { startVersityGw } from './versitygw.ts';

export const idle = true;

const test = suite<{ store: ObjectStore; clients: Clients }>('external clients');

test.before(async (context) => {
  context.store = await startVersityGw();
  await context.store.createBucket('box');
  context.clients = clientsFor(context.store);
  writeFileSync(join(context.clients.dir, 'up'), 'hello');
});

test.after(async ({ clients, store }) => {
  await clients?.stop();
  await store?.stop();
});

function ok(result: CommandResult): string {
  assert.is(result.status, 0, result.stderr);
  return result.stdout;
}

const stored = (store: ObjectStore, key: string) => readFileSync(join(store.dataDir, 'box', key), 'utf8');

for (const name of ['aws', 'awsV1'] as const) {
  test(`${name} copies up and down`, async ({ store, clients }) => {
    ok(await clients[name](['s3', 'cp', 'up', `s3://box/${name}`]));
    assert.is(stored(store, name), 'hello');
    assert.is(ok(await clients[name](['s3', 'cp', `s3://box/${name}`, '-'])), 'hello');
  });
}

test('s3cmd puts and gets', async ({ store, clients }) => {
  ok(await clients.s3cmd(['put', 'up', 's3://box/s3cmd']));
  assert.is(stored(store, 's3cmd'), 'hello');
  assert.is(ok(await clients.s3cmd(['get', 's3://box/s3cmd', '-'])), 'hello');
});

test('rclone copies and lists', async ({ store, clients }) => {
  ok(await clients.rclone(['rcat', 'svc:box/rclone'], { input: 'hello' }));
  assert.is(stored(store, 'rclone'), 'hello');
  assert.match(ok(await clients.rclone(['lsf', 'svc:box'])), /^rclone$/m);
});

test('boto3 runs scripts', async ({ clients }) => {
  const script = `
s3.put_object(Bucket='box', Key='boto3', Body=b'hello')
print(json.dumps(s3.get_object(Bucket='box', Key='boto3')['Body'].read().decode()))`;
  assert.is(JSON.parse(ok(await clients.boto3(script))), 'hello');
});

test('a client that does not end is killed at its bound', async ({ clients }) => {
  const result = await clients.boto3('import time; time.sleep(600)', { timeoutMs: 2_000 });
  assert.is(result.status, null);
});

test('clients reach a store with a private CA', async () => {
  const store = await startVersityGw({ tls: true });
  await store.createBucket('box');
  const clients = clientsFor(store);
  ok(await clients.aws(['s3', 'ls', 's3://box']));
  ok(await clients.awsV1(['s3', 'ls', 's3://box']));
  ok(await clients.s3cmd(['ls', 's3://box']));
  ok(await clients.rclone(['lsf', 'svc:box']));
  ok(await clients.boto3("s3.head_bucket(Bucket='box')"));
  await clients.stop();
  await store.stop();
});

test.run();
