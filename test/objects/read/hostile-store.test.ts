import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ObjectServices } from '../../../src/objects/context.ts';
import { SpoolSpace } from '../../../src/objects/read/body/spool.ts';
import { createObjectReader } from '../../../src/objects/read/create-object-reader.ts';
import { getObject, headObject } from '../../../src/objects/read/get-object.ts';
import { ObjectLooks } from '../../../src/objects/read/look-at-object.ts';
import { createUpstream } from '../../../src/objects/upstream/s3-upstream.ts';
import { recordingLog, serve } from '../../plugins/proxy/support/serve.ts';
import { rawHttp } from '../../support/raw-http.ts';

const test = suite('a store that answers reads oddly');

type Responder = (request: IncomingMessage, response: ServerResponse) => void;

/** The handlers of reads before a store that answers as it is told; unless told otherwise under `--unencrypted-reads deny`. */
async function before(answer: Responder, unencryptedReads: 'allow' | 'deny' = 'deny') {
  const store = createServer(answer);
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
  const config = {
    upstream: new URL(`http://127.0.0.1:${(store.address() as AddressInfo).port}`),
    region: 'eu-central-1',
    upstreamSigning: 'auto',
    upstreamChecksum: 'crc32',
    reservedPrefix: '.svc/',
    unencryptedReads,
    verifyBudget: 1024 * 1024,
    verifyBuffer: 1024 * 1024,
  } as ObjectServices['config'];
  const upstream = createUpstream(config, recordingLog(), {
    credentials: () => ({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'not-a-secret' }),
  });
  const shared = { config, upstream, spoolSpace: new SpoolSpace(1024 * 1024) } as ObjectServices;
  const reader = createObjectReader(shared);
  const server = await serve(
    { GetObject: getObject(new ObjectLooks()), HeadObject: headObject(new ObjectLooks()) },
    { context: { ...shared, reader } },
  );
  return {
    url: `${server.url}/bucket/key`,
    store,
    stop: async () => {
      await server.stop();
      upstream.close();
      store.closeAllConnections();
      store.close();
    },
  };
}

for (const status of [201, 203, 206, 299]) {
  test(`a GET of the whole that is answered ${status} gives nothing of its body out`, async () => {
    const proxy = await before((_request, response) => response.writeHead(status).end('forged'));
    const answer = await rawHttp(proxy.url);
    await proxy.stop();
    assert.is(answer.status, 500);
    assert.not.match(answer.body.toString(), /forged/);
  });

  test(`a HEAD that is answered ${status} is refused`, async () => {
    const proxy = await before((_request, response) =>
      response.writeHead(status, { 'content-length': '6' }).end(),
    );
    const answer = await rawHttp(proxy.url, { method: 'HEAD' });
    await proxy.stop();
    assert.is(answer.status, 500);
  });
}

const svc = {
  'x-amz-meta-svc-encrypted': 'true',
  'x-amz-meta-svc-wrapped-dek': 'vault:v1:AAAA',
  'x-amz-meta-svc-algorithm': 'AES-256-GCM',
  'x-amz-meta-svc-key-name': 'svc',
  'x-amz-meta-svc-key-version': '1',
};

test('an object that becomes encrypted between two looks at it is shown in plaintext size', async () => {
  let heads = 0;
  const proxy = await before((_request, response) => {
    heads += 1;
    response.writeHead(200, { ...(heads > 1 && svc), etag: '"e"', 'content-length': '100' }).end();
  }, 'allow');
  const answer = await rawHttp(proxy.url, { method: 'HEAD' });
  await proxy.stop();
  assert.equal([answer.status, answer.headers['content-length']], [200, '72']);
});

test('an override that no header can hold costs no connection to the store', async () => {
  const proxy = await before((_request, response) => {
    response.writeHead(200, { ...svc, etag: '"e"', 'content-length': '1000' }).end(Buffer.alloc(1000));
  });
  const answer = await rawHttp(`${proxy.url}?response-content-type=%E2%82%AC`);
  const connections = await new Promise((resolve) =>
    proxy.store.getConnections((_error, count) => resolve(count)),
  );
  await proxy.stop();
  assert.is(answer.status, 400);
  assert.is(connections, 0);
});

test.run();
