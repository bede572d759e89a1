import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCertificateAuthority, type Identity } from '../support/certificates.ts';
import { rawHttp } from '../support/raw-http.ts';
import { runCommand } from '../support/run-command.ts';
import { startSvcProxy } from '../support/svc-proxy.ts';
import { temporaryFolder } from '../support/temporary.ts';

const test = suite('who stands in the place of the store');
const entry = fileURLToPath(new URL('../../bin/run.js', import.meta.url));
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

interface Outcome {
  /** Of an answer, or of a process. */
  readonly status: number | null;
  readonly asked: readonly string[];
}

/** What becomes of a call, and what a store of that identity hears of it. */
async function outcomeOf(
  identity: Identity,
  call: (store: string) => Promise<number | null>,
): Promise<Outcome> {
  const { server, url, asked } = await storeOf(identity);
  try {
    return { status: await call(url), asked };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const keys = { accessKeyId: 'AKOFPROXY', secretAccessKey: 'of the proxy' };
const env = { AWS_CA_BUNDLE: bundle, NODE_TLS_REJECT_UNAUTHORIZED: '0' };

async function readThroughProxy(store: string): Promise<number> {
  const proxy = await startSvcProxy({
    upstream: { endpoint: store, region: 'us-east-1', ...keys },
    vault: { addr: 'http://127.0.0.1:9', token: 'of-nobody' },
    env,
    waitReady: false,
  });
  try {
    return (await rawHttp(`${proxy.url}/bucket/key`)).status;
  } finally {
    await proxy.stop();
  }
}

async function collectGarbage(store: string): Promise<number | null> {
  const credentials = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: keys.accessKeyId,
    AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
  };
  const args = [entry, 'proxy', 'gc', '--upstream', store];
  return (await runCommand(process.execPath, args, folder.path, { env: { ...credentials, ...env } })).status;
}

for (const [what, identity] of Object.entries(strangers))
  test(`a store of ${what} gets nothing, even where the environment turns verification off`, async () => {
    assert.equal(await outcomeOf(identity, readThroughProxy), { status: 503, asked: [] });
  });

test('one of the authority is asked, with the credentials of the proxy', async () => {
  const { status, asked } = await outcomeOf(authority.issue({ commonName }), readThroughProxy);
  assert.is(status, 404);
  assert.match(asked[0] ?? '', 'Credential=AKOFPROXY/');
});

test('svc proxy gc asks the one of the authority, and no other', async () => {
  const [stranger] = Object.values(strangers);
  const { status, asked } = await outcomeOf(stranger as Identity, collectGarbage);
  assert.equal(asked, []);
  assert.is.not(status, 0);
  const known = await outcomeOf(authority.issue({ commonName }), collectGarbage);
  assert.match(known.asked[0] ?? '', 'Credential=AKOFPROXY/');
});

test.run();
