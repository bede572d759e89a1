import { once } from 'node:events';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type PeerCertificate, type SecureContext, type TLSSocket } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { TlsContext, type TlsFiles, type VaultConnectionSettings } from '../../src/keyserver/connection.ts';
import { createLeanTransport } from '../../src/keyserver/lean-transport.ts';
import { createNodeVaultTransport } from '../../src/keyserver/node-vault-transport.ts';
import { SvcError } from '../../src/runtime/errors.ts';
import {
  type CertificateAuthority,
  createCertificateAuthority,
  type Identity,
} from '../support/certificates.ts';
import { type TemporaryFolder, temporaryFolder } from '../support/temporary.ts';
import { connectionTo, type FakeKeyServer, fakeKeyServer, type SeenRequest } from './fake-key-server.ts';
import { vaultFailure } from './rejection.ts';

interface Context {
  folder: TemporaryFolder;
  authority: CertificateAuthority;
  other: CertificateAuthority;
  server: FakeKeyServer;
  mutual: FakeKeyServer;
  put: (name: string, text: string) => string;
  putIdentity: (identity: Identity) => { certFile: string; keyFile: string };
}

const test = suite<Context>('TLS to the key server');

const nothing: TlsFiles = { caFiles: [], caPath: undefined, client: undefined };

test.before(async (context) => {
  context.folder = temporaryFolder('vault-tls');
  context.authority = createCertificateAuthority('key server CA');
  context.other = createCertificateAuthority('another CA');
  const identity = context.authority.issue({ commonName: 'vault' });
  const handler = () => ({ status: 200, json: { data: 'ok' } });
  context.server = await fakeKeyServer(handler, { ...identity });
  const ask = { requestCert: true, rejectUnauthorized: true, ca: context.authority.cert };
  context.mutual = await fakeKeyServer(handler, { ...identity, ...ask });
  context.put = (name, text) => {
    // As a kubelet does: the new file takes the place of the old one.
    const path = join(context.folder.path, name);
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
    return path;
  };
  context.putIdentity = ({ cert, key }) => ({
    certFile: context.put('tls.crt', cert),
    keyFile: context.put('tls.key', key),
  });
});

test.after(async ({ folder, server, mutual }) => {
  await server.stop();
  await mutual.stop();
  await folder.remove();
});

async function ask(
  server: FakeKeyServer,
  tls: Partial<TlsFiles>,
  changes: Partial<VaultConnectionSettings> = {},
): Promise<unknown> {
  const transport = createLeanTransport(
    connectionTo(server.url, { tls: { ...nothing, ...tls }, ...changes }),
  );
  try {
    return (await transport.send({ method: 'GET', path: 'sys/health' })).body;
  } finally {
    transport.close();
  }
}

test('authorities that are kept are trusted whatever becomes of their file, client certificates are read again', async (context) => {
  const { authority, other, put, putIdentity } = context;
  const caFile = put('kept.pem', authority.cert);
  const client = putIdentity(authority.issue({ commonName: 'first' }));
  const tls = new TlsContext({ caFiles: [caFile], caPath: undefined, client });
  tls.keepAuthorities();
  const before = tls.current();
  put('kept.pem', other.cert);
  putIdentity(authority.issue({ commonName: 'second' }));
  const after = tls.current();
  assert.is.not(after, before);
  assert.equal(await trusts(context.mutual, after), 'second');
});

/** The name that the server is shown, by a client that trusts it. */
async function trusts(server: FakeKeyServer, secureContext: SecureContext): Promise<string> {
  const { port } = new URL(server.url);
  const socket = connect({ host: '127.0.0.1', port: Number(port), secureContext, servername: 'localhost' });
  await once(socket, 'secureConnect');
  const { subject } = socket.getCertificate() as PeerCertificate;
  socket.destroy();
  return subject.CN as string;
}

function certificateUsed(server: FakeKeyServer): string {
  const { socket } = server.seen.at(-1) as SeenRequest;
  return (socket as TLSSocket).getPeerCertificate().subject.CN as string;
}

test('a private CA is trusted from a file and from a folder, and only that one', async ({
  server,
  authority,
  other,
  put,
  folder,
}) => {
  const file = put('ca.pem', authority.cert);
  assert.equal(await ask(server, { caFiles: [file] }), { data: 'ok' });
  const dir = join(folder.path, 'certs');
  mkdirSync(join(dir, '..data'), { recursive: true });
  writeFileSync(join(dir, 'README'), 'not a certificate');
  writeFileSync(join(dir, 'other.crt'), other.cert);
  await vaultFailure(ask(server, { caPath: dir }), 'unavailable');
  writeFileSync(join(dir, 'ca.crt'), authority.cert);
  assert.equal(await ask(server, { caPath: dir }), { data: 'ok' });
});

test('without the CA nothing is sent, unless verification is off', async ({ server, other, put }) => {
  const before = server.seen.length;
  const { message } = await vaultFailure(ask(server, {}), 'unavailable');
  assert.match(message, /UNABLE_TO_GET_ISSUER_CERT|SELF_SIGNED/);
  await vaultFailure(ask(server, { caFiles: [put('other.pem', other.cert)] }), 'unavailable');
  assert.is(server.seen.length, before);
  assert.equal(await ask(server, {}, { skipVerify: true }), { data: 'ok' });
});

test('verification does not obey the environment', async ({ server }) => {
  process.env['VAULT_SKIP_VERIFY'] = 'true';
  try {
    await vaultFailure(ask(server, {}), 'unavailable');
    const other = await createNodeVaultTransport(connectionTo(server.url));
    await vaultFailure(other.send({ method: 'GET', path: 'sys/health' }), 'unavailable');
    other.close();
  } finally {
    delete process.env['VAULT_SKIP_VERIFY'];
  }
});

test('a certificate for another name is refused', async ({ authority, put }) => {
  const foreign = authority.issue({
    commonName: 'elsewhere',
    dnsNames: ['elsewhere.test'],
    addresses: ['127.9.9.9'],
  });
  const server = await fakeKeyServer(() => ({ status: 200, json: {} }), { ...foreign });
  const { message } = await vaultFailure(
    ask(server, { caFiles: [put('ca.pem', authority.cert)] }),
    'unavailable',
  );
  assert.match(message, /ALTNAME/);
  await server.stop();
});

test('a client certificate is shown, on both transports', async ({ mutual, authority, put, putIdentity }) => {
  const caFiles = [put('ca.pem', authority.cert)];
  await vaultFailure(ask(mutual, { caFiles }), 'unavailable');
  const client = putIdentity(authority.issue({ commonName: 'proxy-1' }));
  assert.equal(await ask(mutual, { caFiles, client }), { data: 'ok' });
  assert.is(certificateUsed(mutual), 'proxy-1');
  const transport = await createNodeVaultTransport(
    connectionTo(mutual.url, { tls: { ...nothing, caFiles, client } }),
  );
  assert.is((await transport.send({ method: 'GET', path: 'sys/health' })).status, 200);
  transport.close();
});

test('new certificates are used for new connections; half written ones leave the old in use', async (context) => {
  const { mutual, authority, other, put, putIdentity } = context;
  const caFile = put('ca.pem', authority.cert);
  const client = putIdentity(authority.issue({ commonName: 'first' }));
  const transport = createLeanTransport(
    connectionTo(mutual.url, { tls: { ...nothing, caFiles: [caFile], client } }),
  );
  const user = async () => {
    await transport.send({ method: 'GET', path: 'sys/health' });
    return certificateUsed(mutual);
  };
  assert.is(await user(), 'first');
  const second = authority.issue({ commonName: 'second' });
  put('tls.crt', second.cert);
  await hangUp(mutual);
  assert.is(await user(), 'first');
  put('tls.key', second.key);
  await hangUp(mutual);
  assert.is(await user(), 'second');
  put('ca.pem', other.cert);
  await hangUp(mutual);
  await vaultFailure(user(), 'unavailable');
  transport.close();
});

/** Ends the kept connection and lets the client see it. */
async function hangUp(server: FakeKeyServer): Promise<void> {
  const socket = server.seen.at(-1)?.socket;
  const closed = new Promise((resolve) => socket?.once('close', resolve));
  socket?.destroy();
  await closed;
  await new Promise((resolve) => setTimeout(resolve, 20));
}

test('files that cannot be used are an error of the configuration', ({ put, folder, authority, other }) => {
  const { cert } = authority.issue({ commonName: 'a' });
  const { key } = other.issue({ commonName: 'b' });
  const empty = join(folder.path, 'empty');
  mkdirSync(empty);
  const faults: Partial<TlsFiles>[] = [
    { caFiles: [join(folder.path, 'absent.pem')] },
    { caFiles: [put('text.pem', 'hello')] },
    { caPath: empty },
    { client: { certFile: put('odd.crt', cert), keyFile: put('odd.key', key) } },
  ];
  for (const tls of faults) {
    const connection = connectionTo(new URL('https://127.0.0.1:1'), { tls: { ...nothing, ...tls } });
    const isError = (error: unknown) => error instanceof SvcError && error.exitStatus === 78;
    assert.throws(() => createLeanTransport(connection), isError);
  }
});

test.run();
