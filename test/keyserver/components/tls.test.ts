import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createRegistryHttpClient } from '../../../src/cluster/images/registry-http-client.ts';
import { createCertificateAuthority } from '../../support/certificates.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';
import { type FakeKeyServer, fakeKeyServer } from '../fake-key-server.ts';
import { answers } from './answers.ts';
import { type Component, workloads } from './clients.ts';

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

test.run();
