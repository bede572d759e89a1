import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { ObjectServices, OperationHandler } from '../../../src/objects/context.ts';
import { encryptBody } from '../../../src/objects/format/cipher.ts';
import { SpoolSpace } from '../../../src/objects/read/body/spool.ts';
import { createObjectReader } from '../../../src/objects/read/create-object-reader.ts';
import { getObject } from '../../../src/objects/read/get-object.ts';
import { ObjectLooks } from '../../../src/objects/read/look-at-object.ts';
import type { ObjectReader } from '../../../src/objects/read/stored-object.ts';
import { createUpstream } from '../../../src/objects/upstream/s3-upstream.ts';
import { untilAborted } from '../../../src/runtime/lifecycle/wait.ts';
import { recordingLog, serve } from '../../plugins/proxy/support/serve.ts';
import { rawHttp } from '../../support/raw-http.ts';
import { waitFor } from '../../support/wait-for.ts';

const test = suite('reads of small objects');

const dek = Buffer.alloc(32, 7);
const plaintext = Buffer.alloc(1000, 'p');
const envelope = {
  'x-amz-meta-svc-encrypted': 'true',
  'x-amz-meta-svc-wrapped-dek': 'vault:v1:AAAA',
  'x-amz-meta-svc-algorithm': 'AES-256-GCM',
  'x-amz-meta-svc-key-name': 'svc',
  'x-amz-meta-svc-key-version': '1',
  etag: '"e"',
};

function sealed(): Buffer {
  const cipher = encryptBody(dek);
  return Buffer.concat([cipher.nonce, cipher.update(plaintext), cipher.finish()]);
}

/** Answers behind it on the same connection wait for it. */
const untilGone: OperationHandler = async (_services, { signal }) => untilAborted(signal);

interface Bed {
  /** Answers the store's GET of an object that is announced as one of ours. */
  readonly body: (response: ServerResponse) => void;
  readonly unwrap: ObjectServices['keys']['unwrap'];
}

async function start({ body, unwrap }: Bed) {
  const store = createServer((_request, response) => {
    response.writeHead(200, { ...envelope, 'content-length': plaintext.length + 28 });
    response.flushHeaders();
    body(response);
  }).listen(0, '127.0.0.1');
  await once(store, 'listening');
  const config = {
    upstream: new URL(`http://127.0.0.1:${(store.address() as AddressInfo).port}`),
    region: 'eu-central-1',
    upstreamSigning: 'auto',
    upstreamChecksum: 'crc32',
    reservedPrefix: '.svc/',
    verifyBudget: 4 * 1024 * 1024,
    verifyBuffer: 1024 * 1024,
  } as ObjectServices['config'];
  const upstream = createUpstream(config, recordingLog(), {
    credentials: () => ({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'not-a-secret' }),
  });
  const services = {
    config,
    upstream,
    spoolSpace: new SpoolSpace(0),
    keys: { unwrap } as ObjectServices['keys'],
    metrics: { bytes: () => undefined } as unknown as ObjectServices['metrics'],
  } as ObjectServices;
  const reader = createObjectReader(services);
  const plaintexts = { had: 0, given: 0 };
  const watched: ObjectReader = {
    ...reader,
    decryptSmall: (...parameters) =>
      reader.decryptSmall(...parameters)?.then(({ plaintext: bytes, done, ...rest }) => {
        plaintexts.had += 1;
        const counted = () => {
          done();
          plaintexts.given += 1;
        };
        return { plaintext: bytes, done: counted, ...rest };
      }),
  };
  const { metrics: _metrics, ...shared } = services;
  const server = await serve(
    { GetObject: getObject(new ObjectLooks()), ListBuckets: untilGone },
    { context: { ...shared, reader: watched } },
  );
  return {
    plaintexts,
    counted: server.counted,
    port: server.port,
    url: `${server.url}/bucket/key`,
    stop: async () => {
      await server.stop();
      upstream.close();
      store.closeAllConnections();
      store.close();
    },
  };
}

test('a key that is refused before the body has come is an error of that request alone', async () => {
  const refused = Promise.withResolvers<void>();
  const strays: unknown[] = [];
  const note = (reason: unknown) => strays.push(reason);
  process.on('unhandledRejection', note);
  const bed = await start({
    unwrap: async () => {
      refused.resolve();
      throw new Error('refused');
    },
    body: (response) => void refused.promise.then(() => delay(50)).then(() => response.end(sealed())),
  });
  const answer = await rawHttp(bed.url);
  await bed.stop();
  process.off('unhandledRejection', note);
  assert.is(answer.status, 500);
  assert.equal(strays, []);
});

test('a caller that goes before its answer has left gives the memory for it back', async () => {
  const bed = await start({
    unwrap: async () => [Buffer.from(dek)],
    body: (response) => response.end(sealed()),
  });
  const socket = connect(bed.port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  const get = 'GET /bucket/key HTTP/1.1\r\nHost: h\r\n\r\n';
  socket.write(`GET / HTTP/1.1\r\nHost: h\r\n\r\n${get.repeat(3)}`);
  await waitFor('the plaintexts', () => bed.plaintexts.had === 3);
  assert.is(bed.plaintexts.given, 0);
  socket.resetAndDestroy();
  await waitFor('the end of all', () => bed.counted.inFlight === 0);
  assert.is(bed.plaintexts.given, 3);
  await bed.stop();
});

test.run();
