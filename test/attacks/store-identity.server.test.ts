import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCertificateAuthority, type Identity } from '../support/certificates.ts';
import { rawHttp } from '../support/raw-http.ts';
import { startSvcProxy } from '../support/svc-proxy.ts';
import { temporaryFolder } from '../support/temporary.ts';

const test = suite('who stands in the place of the store');
const authority = createCertificateAuthority('the authority of the store');
const folder = temporaryFolder('store-identity');
const bundle = join(folder.path, 'ca.pem');
writeFileSync(bundle, authority.cert);

test.after(() => folder.remove());

const commonName = 'store';
const strangers: Readonly<Record<string, Identity>> = {
  'another authority': createCertificateAuthority('another one').issue({ commonName }),
  'another name': authority.issue({ commonName, dnsNames: ['other.example'], addresses: ['127.0.0.2'] }),
  'a time that is over': authority.issue({ commonName, notAfter: new Date(Date.now() - 1000) }),
};

/** A store that notes who asks it, and has nothing. */
async function storeOf(identity: Identity): Promise<{ server: Server; url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer(identity, (request, response) => {
    asked.push(request.headers.authorization ?? 'without a signature');
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** What a read through a proxy comes to, and what the store heard of it. */
async function readThrough(identity: Identity): Promise<{ status: number; asked: readonly string[] }> {
  const { server, url, asked } = await storeOf(identity);
  const keys = { accessKeyId: 'AKOFPROXY', secretAccessKey: 'of the proxy' };
  const proxy = await startSvcProxy({
    upstream: { endpoint: url, region: 'us-east-1', ...keys },
    vault: { addr: 'http://127.0.0.1:9', token: 'of nobody' },
    env: { AWS_CA_BUNDLE: bundle },
    waitReady: false,
  });
  try {
    const { status } = await rawHttp(`${proxy.url}/bucket/key`);
    return { status, asked };
  } finally {
    await proxy.stop();
    server.closeAllConnections();
    server.close();
  }
}

for (const [what, identity] of Object.entries(strangers))
  test(`a store of ${what} gets nothing`, async () => {
    assert.equal(await readThrough(identity), { status: 503, asked: [] });
  });

test('one of the authority is asked, with the credentials of the proxy', async () => {
  const { status, asked } = await readThrough(authority.issue({ commonName }));
  assert.is(status, 404);
  assert.match(asked[0] ?? '', 'Credential=AKOFPROXY/');
});

test.run();
