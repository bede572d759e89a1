import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createRegistryHttpClient } from '../../../src/cluster/images/registry-http-client.ts';
import { TlsContext } from '../../../src/keyserver/connection.ts';
import { systemAuthorities } from '../../../src/keyserver/system-authorities.ts';
import { messageOf } from '../../../src/runtime/errors.ts';
import { createCertificateAuthority } from '../../support/certificates.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';
import { type FakeKeyServer, fakeKeyServer } from '../fake-key-server.ts';
import { vaultFailure } from '../rejection.ts';
import { answers } from './answers.ts';
import { type Component, workloads } from './clients.ts';
import { staying } from './staying.ts';

interface Context {
  folder: TemporaryFolder;
  servers: FakeKeyServer[];
}

const test = suite<Context>('TLS of every component to the key server');
const authority = createCertificateAuthority('key server CA');

test.before((context) => {
  context.folder = temporaryFolder('component-tls');
  context.servers = [];
});
test.after(async ({ folder, servers }) => {
  for (const server of servers) await server.stop();
  await folder.remove();
});

async function serve({ servers }: Context, identity: Parameters<typeof fakeKeyServer>[1]) {
  const server = await fakeKeyServer(answers({}), identity);
  servers.push(server);
  return server;
}

function put({ folder }: Context, name: string, text: string): string {
  const path = join(folder.path, name);
  writeFileSync(path, text);
  return path;
}

const namesSeen = ({ seen }: FakeKeyServer): unknown[] => [
  ...new Set(seen.map(({ socket }) => (socket as TLSSocket).servername)),
];

function each(name: string, check: (component: Component, context: Context) => Promise<void>): void {
  for (const component of workloads)
    test(`${component.name}: ${name}`, (context) => check(component, context));
}

each('a host name that ends in a dot is named without it', async (component, context) => {
  const caFiles = [put(context, 'ca.pem', authority.cert)];
  const server = await serve(context, authority.issue({ commonName: 'vault' }));
  const url = new URL(server.url.href.replace('127.0.0.1', 'localhost.'));
  await component.ask(url, { caFiles });
  assert.equal(namesSeen(server), ['localhost']);
});

each('an intermediate CA is an anchor, and so is the certificate itself', async (component, context) => {
  const intermediate = authority.intermediate('issuing CA');
  const { cert, key } = intermediate.issue({ commonName: 'vault' });
  const server = await serve(context, { cert: `${cert}${intermediate.cert}`, key });
  for (const anchor of [intermediate.cert, cert, authority.cert])
    await component.ask(server.url, { caFiles: [put(context, 'anchor.pem', anchor)] });
  const stranger = put(context, 'stranger.pem', createCertificateAuthority('stranger').cert);
  const { code, exitStatus } = await vaultFailure(
    component.ask(server.url, { caFiles: [stranger] }),
    'unavailable',
  );
  assert.equal([code, exitStatus], ['VAULT_CERTIFICATE', 78]);
});

each('what follows a broken certificate in a bundle is trusted', async (component, context) => {
  const server = await serve(context, authority.issue({ commonName: 'vault' }));
  const broken = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
  const cut = '-----BEGIN CERTIFICATE-----\nMIIB\n';
  const bundle = put(context, 'bundle.pem', `${broken}${cut}# ours\n${authority.cert}`);
  await component.ask(server.url, { caFiles: [bundle] });
});

each('CAs of subfolders are trusted', async (component, context) => {
  const server = await serve(context, authority.issue({ commonName: 'vault' }));
  const caPath = join(context.folder.path, 'certs');
  mkdirSync(join(caPath, 'team', 'eu'), { recursive: true });
  writeFileSync(join(caPath, 'README'), 'not a certificate');
  writeFileSync(join(caPath, 'team', 'eu', 'ca.crt'), authority.cert);
  await component.ask(server.url, { caPath });
});

test("the system's store is read as other tools read it", async (context) => {
  const file = put(context, 'store.pem', authority.cert);
  const folders = [join(context.folder.path, 'absent'), join(context.folder.path, 'store')];
  mkdirSync(folders[1] as string);
  const one = put(context, 'store/one.pem', authority.cert);
  put(context, 'store/README', 'not a certificate');
  assert.equal(systemAuthorities({ SSL_CERT_FILE: file }), [file]);
  assert.equal(systemAuthorities({ SSL_CERT_FILE: file, SSL_CERT_DIR: folders.join(':') }), [file, one]);
  const usual = systemAuthorities({});
  assert.ok(usual.length <= 1 && usual.every((path) => path.startsWith('/etc/')), String(usual));
});

test('certificates that were skipped are named', (context) => {
  const broken = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
  const file = put(context, 'named.pem', `${authority.cert}${broken}${authority.cert}`);
  const skipped: string[] = [];
  new TlsContext({ caFiles: [file], caPath: undefined, client: undefined }, (where) => skipped.push(where));
  assert.equal(skipped, [`certificate 2 of ${file}`]);
});

test('a message gives no advice about Node', async () => {
  const advice =
    'self-signed certificate; if the root CA is installed locally, try running Node.js with --use-system-ca';
  assert.is(messageOf(new Error(advice)), 'self-signed certificate');
});

test('a registry is named without the dot, too', async (context) => {
  const server = await serve(context, authority.issue({ commonName: 'registry' }));
  const registry = createRegistryHttpClient({
    authorities: authority.cert,
    local: true,
    lookup: (_host, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  const url = new URL(`https://localhost.:${server.url.port}/v2/`);
  const signal = AbortSignal.timeout(30_000);
  await registry.send({ method: 'GET', url, headers: {}, maxBytes: 1_000, signal });
  registry.close();
  assert.equal(namesSeen(server), ['localhost']);
});

test('a component without a CA trusts what SSL_CERT_FILE holds', async (context) => {
  const server = await serve(context, authority.issue({ commonName: 'vault' }));
  const file = put(context, 'ssl.pem', authority.cert);
  for (const { name, run } of staying)
    await run({ addr: server.url.origin, token: 's.token' }, undefined, { SSL_CERT_FILE: file }).catch(
      (error) => assert.unreachable(`${name}: ${error}`),
    );
});

test.run();
