import { renameSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { VaultError } from '../../../src/keyserver/contract.ts';
import { brokenExchange } from '../../../src/keyserver/secret-client/secret-socket.ts';
import { SvcError } from '../../../src/runtime/errors.ts';
import {
  type CertificateAuthority,
  createCertificateAuthority,
  type Identity,
} from '../../support/certificates.ts';
import { listen } from '../../support/loopback.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';
import { vaultFailure } from '../rejection.ts';
import { type ClientChanges, clientOf, patient } from './client-fixture.ts';
import { type RawServer, rawServer } from './raw-server.ts';

interface Context {
  folder: TemporaryFolder;
  authority: CertificateAuthority;
  servers: RawServer[];
  put: (name: string, text: string) => string;
  caFiles: string[];
  serve: (options: TlsOptions) => Promise<RawServer>;
}

const test = suite<Context>('TLS of the client for secrets');

test.before((context) => {
  context.folder = temporaryFolder('secret-tls');
  context.authority = createCertificateAuthority('key server CA');
  context.servers = [];
  context.put = (name, text) => {
    const path = join(context.folder.path, name);
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
    return path;
  };
  context.caFiles = [context.put('ca.pem', context.authority.cert)];
  context.serve = async (options) => {
    const body = '{"data":{"ttl":60}}';
    const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const server = await rawServer((socket) => void socket.write(answer), options);
    context.servers.push(server);
    return server;
  };
});

test.after(async ({ folder, servers }) => {
  await Promise.all(servers.map((server) => server.stop()));
  await folder.remove();
});

async function logIn(url: string, changes: ClientChanges): Promise<number> {
  const client = clientOf(url, changes);
  try {
    const { leaseSeconds = 0 } = await client.logIn(patient());
    return leaseSeconds;
  } finally {
    client.close();
  }
}

const plainOptions = ({ cert, key }: Identity): TlsOptions => ({ cert, key });

test('an authority, a name and an address that fit', async ({ authority, serve, caFiles }) => {
  const server = await serve(plainOptions(authority.issue({ commonName: 'vault' })));
  assert.is(await logIn(server.url, { caFiles }), 60);
  assert.is(await logIn(server.url.replace('127.0.0.1', 'localhost'), { caFiles }), 60);
  const names = server.sockets.map((socket) => (socket as TLSSocket).servername);
  assert.equal(names, [false, 'localhost']);
});

test('a connection that does not come about is not all that is tried', async ({
  authority,
  serve,
  caFiles,
}) => {
  const { url } = await serve(plainOptions(authority.issue({ commonName: 'vault' })));
  const swallowed: Socket[] = [];
  const relay = await listen(
    createServer((socket) => {
      if (swallowed.length === 0) return void swallowed.push(socket);
      const onward = connect(Number(new URL(url).port), '127.0.0.1');
      socket
        .on('error', () => onward.destroy())
        .pipe(onward)
        .on('error', () => socket.destroy())
        .pipe(socket);
    }),
  );
  const begun = performance.now();
  assert.is(await logIn(`https://${relay.address}`, { caFiles, connectTimeoutMs: 60_000 }), 60);
  assert.ok(performance.now() - begun < 30_000);
  assert.is(swallowed.length, 1);
  swallowed[0]?.destroy();
  await relay.stop();
});

test('TLS 1.2 is spoken, nothing below', async ({ authority, serve, caFiles }) => {
  const identity = plainOptions(authority.issue({ commonName: 'vault' }));
  const { url } = await serve({ ...identity, maxVersion: 'TLSv1.2' });
  assert.is(await logIn(url, { caFiles }), 60);
  const old = await serve({
    ...identity,
    minVersion: 'TLSv1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  });
  assert.match((await vaultFailure(logIn(old.url, { caFiles }), 'unavailable')).message, /PROTOCOL/);
});

test('another authority, another name, a past date: refused, with what to check', async (context) => {
  const { authority, serve, caFiles } = context;
  const foreign = createCertificateAuthority('another CA').issue({ commonName: 'vault' });
  const named = authority.issue({
    commonName: 'vault',
    dnsNames: ['vault.example.eu'],
    addresses: ['127.0.0.9'],
  });
  const past = authority.issue({ commonName: 'vault', notAfter: new Date(Date.now() - 86_400_000) });
  for (const [identity, reason] of [
    [foreign, /UNABLE_TO_GET_ISSUER_CERT_LOCALLY/],
    [named, /ERR_TLS_CERT_ALTNAME_INVALID/],
    [past, /CERT_HAS_EXPIRED/],
  ] as const) {
    const server = await serve(plainOptions(identity));
    const error = await vaultFailure(logIn(server.url, { caFiles }), 'unavailable');
    assert.match(error.message, reason);
    assert.equal([error.code, error.exitStatus], ['VAULT_CERTIFICATE', 78]);
    assert.match(error.nextStep, /VAULT_CACERT/);
    assert.is(await logIn(server.url, { caFiles, skipVerify: true }), 60);
  }
});

test('nothing of the token is sent before the server is known', async ({ authority, serve, caFiles }) => {
  const foreign = createCertificateAuthority('another CA').issue({ commonName: 'vault' });
  const server = await serve(plainOptions(foreign));
  let asked = false;
  server.onRequest = () => {
    asked = true;
  };
  await vaultFailure(logIn(server.url, { caFiles }), 'unavailable');
  assert.is(asked, false);
  assert.ok(authority);
});

test('a server that asks for a client certificate', async ({ authority, serve, caFiles, put }) => {
  const server = await serve({
    ...plainOptions(authority.issue({ commonName: 'broker' })),
    ca: authority.cert,
    requestCert: true,
    rejectUnauthorized: true,
  });
  await vaultFailure(logIn(server.url, { caFiles }), 'unavailable');
  const { cert, key } = authority.issue({ commonName: 'app' });
  const client = { certFile: put('tls.crt', cert), keyFile: put('tls.key', key) };
  assert.is(await logIn(server.url, { caFiles, client }), 60);
  const foreign = createCertificateAuthority('another CA').issue({ commonName: 'app' });
  const wrong = { certFile: put('wrong.crt', foreign.cert), keyFile: put('wrong.key', foreign.key) };
  await vaultFailure(logIn(server.url, { caFiles, client: wrong }), 'unavailable');
});

test('a client certificate that the server does not take is said to be the fault', () => {
  for (const code of ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA']) {
    const error = brokenExchange('broker', Object.assign(new Error('alert'), { code })) as VaultError;
    assert.equal([error.kind, error.code, error.exitStatus], ['unavailable', 'VAULT_CERTIFICATE', 78]);
    assert.match(error.nextStep, /SVC_BROKER_TLS_CERT and SVC_BROKER_TLS_KEY/);
  }
});

test('changed files come into use with the next connection', async ({ authority, serve, put }) => {
  const server = await serve(plainOptions(authority.issue({ commonName: 'vault' })));
  const answer = server.onRequest;
  server.onRequest = (socket, request) => {
    answer(socket, request);
    socket.end();
  };
  const other = createCertificateAuthority('another CA').cert;
  const caFiles = [put('changing.pem', other)];
  const client = clientOf(server.url, { caFiles });
  await vaultFailure(client.logIn(patient()), 'unavailable');
  put('changing.pem', `${other}${authority.cert}`);
  assert.is((await client.logIn(patient())).leaseSeconds, 60);
  put('changing.pem', 'half written');
  assert.is((await client.logIn(patient())).leaseSeconds, 60);
  client.close();
});

test('files that cannot be used are an error in the configuration', ({ folder }) => {
  assert.throws(
    () => clientOf('https://127.0.0.1:1', { caFiles: [join(folder.path, 'absent')] }),
    (error: unknown) =>
      error instanceof SvcError && error.code === 'VAULT_TLS_FILES' && error.exitStatus === 78,
  );
});

test('a handshake that does not come to an end', async ({ caFiles }) => {
  const server = createServer((socket) => void socket.resume().on('error', () => undefined));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const attempt = logIn(`https://127.0.0.1:${port}`, { caFiles, connectTimeoutMs: 100 });
  assert.match((await vaultFailure(attempt, 'unavailable')).message, /no connection within 100 ms/);
  await new Promise((resolve) => server.close(resolve));
});

test.run();
