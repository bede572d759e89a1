import { createServer } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Loopback, listen } from '../support/loopback.ts';
import { rawHttp } from '../support/raw-http.ts';
import { startSvcProxy } from '../support/svc-proxy.ts';
import type { SvcProxy } from '../support/types.ts';

const test = suite("documents of a store that are made to hold the proxy's only thread");
let store: Loopback;
let proxy: SvcProxy;
let document = '';

test.before(async () => {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/xml');
    response.end(document);
  });
  store = await listen(server);
  proxy = await startSvcProxy({
    upstream: {
      endpoint: store.url,
      region: 'eu-central-1',
      accessKeyId: 'store',
      secretAccessKey: 'of-the-store',
    },
    vault: { addr: 'http://127.0.0.1:9', token: 'none' },
    args: ['--state-bucket', 'svc-state'],
    waitReady: false,
  });
});
test.after(async () => {
  await proxy?.stop();
  await store?.stop();
});

/** Bytes: enough for a quadratic reading to take minutes. */
const size = 1.5 * 1024 * 1024;
const many = (text: string) => text.repeat(Math.floor(size / text.length));
const removal = '<Delete><Object><Key>.svc/x</Key></Object><Object><Key>b</Key></Object></Delete>';

const requests: Record<string, { path: string; root: string; method?: string; body?: Buffer }> = {
  ListBuckets: { path: '/', root: 'ListAllMyBucketsResult' },
  ListObjectsV2: { path: '/bucket?list-type=2', root: 'ListBucketResult' },
  DeleteObjects: { path: '/bucket?delete', root: 'DeleteResult', method: 'POST', body: Buffer.from(removal) },
};
const bodies: Record<string, (root: string) => string> = {
  'elements that never end': (root) => `<${root}><Buckets>${many('<Bucket>')}`,
  'the root again and again': (root) => many(`<${root} `),
  'blanks without end': (root) => `<${root}>${many(' ')}`,
  'quotes without end': (root) => `<${root} ${many('a="')}>`,
  'comments that never end': (root) => `<${root}>${many('<!--')}`,
  'the root in a comment': (root) => `<${root}><!--${many(`<${root} `)}--></${root}>`,
};

/** The bound is for a machine with much else to do. */
for (const [operation, { path, root, ...call }] of Object.entries(requests))
  test(`${operation}: each is answered in time`, async () => {
    for (const [label, make] of Object.entries(bodies)) {
      document = make(root);
      const { status } = await rawHttp(proxy.url + path, { ...call, timeoutMs: 60_000 });
      assert.is.not(status, 0, label);
    }
  });

test.run();
