import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCertificateAuthority, type Identity } from '../support/certificates.ts';
import { type Loopback, listen } from '../support/loopback.ts';
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

interface Store extends Loopback {
  readonly asked: readonly string[];
  readonly connections: () => number;
}

/** A store that notes who asks it, and has nothing. */
async function storeOf(identity: Identity): Promise<Store> {
  const asked: string[] = [];
  let connections = 0;
  const server = createServer(identity, (request, response) => {
    asked.push(request.headers.authorization ?? 'without a signature');
    response.writeHead(404).end();
  });
  server.on('connection', () => {
    connections += 1;
  });
  return { ...(await listen(server)), asked, connections: () => connections };
}

interface IdentityOutcome<T> {
  /** Status of an answer, or what a process came to. */
  readonly status: T;
  readonly asked: readonly string[];
  readonly connections: number;
}

/** What becomes of a call, and what a store of that identity hears of it. */
async function outcomeOf<T>(
  identity: Identity,
  call: (store: string) => Promise<T>,
): Promise<IdentityOutcome<T>> {
  const { url, stop, asked, connections } = await storeOf(identity);
  try {
    return { status: await call(url), asked, connections: connections() };
  } finally {
    await stop();
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

/** Runs a command of svc over a store. */
const running = (...args: string[]) => {
  const credentials = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: keys.accessKeyId,
    AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
  };
  return (store: string) =>
    runCommand(process.execPath, [entry, ...args, '--upstream', store], folder.path, {
      env: { ...credentials, ...env },
    });
};

for (const [what, identity] of Object.entries(strangers))
  test(`a store of ${what} gets nothing, even where the environment turns verification off`, async () => {
    const { status, asked } = await outcomeOf(identity, readThroughProxy);
    assert.equal({ status, asked }, { status: 503, asked: [] });
  });

test('one of the authority is asked, with the credentials of the proxy', async () => {
  const { status, asked } = await outcomeOf(authority.issue({ commonName }), readThroughProxy);
  assert.is(status, 404);
  assert.match(asked[0] ?? '', 'Credential=AKOFPROXY/');
});

/** What each command ends with where its store is a stranger: a wrong configuration, by its own statuses. */
const commands = {
  'svc proxy gc': { run: running('proxy', 'gc'), status: 78 },
  'svc audit': { run: running('audit', '--bucket', 'bucket'), status: 3 },
  'svc validate': {
    run: running('validate', '--pre', '--bucket', 'bucket', '--check', 'SVC-STORE-001'),
    status: 1,
  },
};

for (const [name, { run, status: expected }] of Object.entries(commands)) {
  for (const [what, identity] of Object.entries(strangers))
    test(`${name} ends at once, with ${expected}, at a store of ${what}, and tells it nothing`, async () => {
      const { status: ended, asked, connections } = await outcomeOf(identity, run);
      const { status, stdout, stderr } = ended;
      assert.is(status, expected, stdout + stderr);
      assert.match(stdout + stderr, /certificate|CERT|LEAF_SIGNATURE/);
      assert.match(stdout + stderr, /AWS_CA_BUNDLE/);
      assert.equal([asked, connections], [[], 1], 'it tries once');
    });

  test(`${name} asks the one of the authority`, async () => {
    const { asked } = await outcomeOf(authority.issue({ commonName }), run);
    assert.match(asked[0] ?? '', 'Credential=AKOFPROXY/');
  });
}

test.run();
