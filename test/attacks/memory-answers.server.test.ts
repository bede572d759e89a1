import { createServer } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { lyingEnvelope, manifestPointer, wrappedKey } from '../support/envelope-headers.ts';
import { createMemoryCgroup, type MemoryCgroup } from '../support/limit-cgroup.ts';
import { type Loopback, listen } from '../support/loopback.ts';
import { type RawAnswer, rawHttp } from '../support/raw-http.ts';
import { repetitions } from '../support/repetitions.ts';
import { startSvcProxy } from '../support/svc-proxy.ts';
import type { SvcProxy } from '../support/types.ts';
import { inputs as jsonDocuments } from '../support/untrusted-inputs/json-documents.ts';
import type { UntrustedInput } from '../support/untrusted-inputs/types.ts';
import { inputs as xmlDocuments } from '../support/untrusted-inputs/xml-documents.ts';

const test = suite('complete answers of a store that lies, each of the largest size and the worst form');
const room = 128 * 1024 * 1024;
let store: Loopback;
let cgroup: MemoryCgroup;
let proxy: SvcProxy;
let answer: StoreAnswer = { status: 200, document: Buffer.alloc(0) };

interface StoreAnswer {
  readonly status: number;
  readonly document: Buffer;
  /** Of the object, whose helper object is the document. */
  readonly object?: Readonly<Record<string, string>>;
}

test.before(async () => {
  const server = createServer((request, response) => {
    request.resume();
    const { status, document, object } = answer;
    if (object !== undefined && !request.url?.includes('/.svc/')) {
      response.writeHead(200, { ...object, 'content-length': 1_000 });
      response.end(Buffer.alloc(1_000));
      return;
    }
    response.writeHead(status, { 'content-type': 'application/xml', 'content-length': document.length });
    response.end(document);
  });
  store = await listen(server);
  cgroup = createMemoryCgroup(room);
  proxy = await startSvcProxy({
    upstream: { endpoint: store.url, region: 'eu-central-1', accessKeyId: 'a', secretAccessKey: 'b' },
    vault: { addr: 'http://127.0.0.1:9', token: 'none' },
    args: ['--state-bucket', 'svc-state'],
    under: cgroup.under,
    waitReady: false,
  });
});
test.after(async () => {
  await proxy?.stop();
  await store?.stop();
  await cgroup?.remove();
});

interface Asking {
  readonly path: string;
  readonly body?: Buffer;
  /** Of the answer. */
  readonly status?: number;
  readonly object?: StoreAnswer['object'];
  /** Requests at once. */
  readonly atOnce?: number;
}

const versioned = Buffer.from(
  '<Delete><Quiet>true</Quiet><Object><Key>a</Key><VersionId>v</VersionId></Object></Delete>',
);
const asking: Readonly<Record<string, Asking>> = {
  listing: { path: '/bucket?list-type=2' },
  ListBuckets: { path: '/' },
  DeleteResult: { path: '/bucket?delete', body: versioned, atOnce: 16 },
  Error: { path: '/bucket?acl', status: 400 },
  'manifest of an object': {
    path: '/bucket/x',
    object: lyingEnvelope(manifestPointer),
  },
  'record of rewrapped keys': { path: '/bucket/x', object: lyingEnvelope(wrappedKey, 'other'), atOnce: 16 },
};

const ask = ({ path, body }: Asking): Promise<RawAnswer> =>
  rawHttp(proxy.url + path, body === undefined ? {} : { method: 'POST', body });

for (const [name, request] of Object.entries(asking))
  test(`${name}: the proxy answers, and stays within 128 MiB`, async () => {
    const { worst } = [...xmlDocuments, ...jsonDocuments].find(
      (input) => input.name === name,
    ) as UntrustedInput;
    for (const [kind, make] of Object.entries(worst)) {
      const { status = 200, object, atOnce = repetitions(2, 12) } = request;
      answer = { status, document: make(), ...(object && { object }) };
      const asked = await Promise.all(Array.from({ length: atOnce }, () => ask(request)));
      for (const { status } of asked) assert.ok(status >= 200, `${kind}: ${status}`);
      assert.is(cgroup.killed(), 0, kind);
    }
    assert.is((await rawHttp(`${proxy.health}/healthz`)).status, 200);
  });

test.run();
