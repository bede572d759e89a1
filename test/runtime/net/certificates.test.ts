import { execFile } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  bundleOf,
  certificatesIn,
  isIssuedBy,
  readCertificate,
  readIdentity,
  type TlsIdentity,
  validityOf,
} from '../../../src/runtime/net/certificates.ts';
import {
  createAuthority,
  type IssueOptions,
  issueCertificate,
} from '../../../src/runtime/net/issue-certificate.ts';
import { listen } from '../../support/loopback.ts';
import { temporaryFolder } from '../../support/temporary.ts';

interface Context {
  authority: TlsIdentity;
  other: TlsIdentity;
  server: TlsIdentity;
}

const test = suite<Context>('certificates');
const run = promisify(execFile);
const dayMs = 86_400_000;
const names: IssueOptions = {
  commonName: 'svc-operator',
  dnsNames: ['svc-operator.svc-system.svc', 'localhost'],
  ipAddresses: ['127.0.0.1', '::1'],
  uris: ['svc://node-agent'],
  days: 30,
  usage: 'server',
};

test.before(async (context) => {
  context.authority = await createAuthority({ commonName: 'one', days: 365 });
  // the same name on purpose: only the key tells them apart
  context.other = await createAuthority({ commonName: 'one', days: 365 });
  context.server = await issueCertificate(context.authority, names);
});

async function verified(ca: string, cert: string, purpose: 'sslserver' | 'sslclient'): Promise<string> {
  const folder = temporaryFolder('verify');
  const [caFile, certFile] = [join(folder.path, 'ca.pem'), join(folder.path, 'cert.pem')];
  writeFileSync(caFile, ca);
  writeFileSync(certFile, cert);
  try {
    const options = ['-x509_strict', '-purpose', purpose, '-CAfile', caFile, '-no-CApath', certFile];
    const { stdout } = await run('openssl', ['verify', ...options]);
    return stdout.trim().endsWith('OK') ? 'OK' : stdout;
  } catch (error) {
    return (error as { stderr: string }).stderr;
  } finally {
    await folder.remove();
  }
}

test('has what openssl demands, of servers and of clients', async ({ authority, server }) => {
  assert.is(await verified(authority.cert, server.cert, 'sslserver'), 'OK');
  assert.match(await verified(authority.cert, server.cert, 'sslclient'), /unsuitable certificate purpose/);
  const client = await issueCertificate(authority, { ...names, usage: 'client' });
  assert.is(await verified(authority.cert, client.cert, 'sslclient'), 'OK');
  assert.match(await verified(authority.cert, client.cert, 'sslserver'), /unsuitable certificate purpose/);
});

test('is another authority’s for none but that one, also of the same name', async ({
  authority,
  other,
  server,
}) => {
  assert.is.not(await verified(other.cert, server.cert, 'sslserver'), 'OK');
  assert.is(await verified(bundleOf(other.cert, authority.cert), server.cert, 'sslserver'), 'OK');
  const leaf = readCertificate(server.cert);
  assert.ok(isIssuedBy(leaf, readCertificate(authority.cert)));
  assert.not(isIssuedBy(leaf, readCertificate(other.cert)));
});

test('cannot issue certificates itself, nor can what it would have issued be verified', async ({
  authority,
  server,
}) => {
  const forged = await issueCertificate(server, names);
  assert.is.not(await verified(bundleOf(authority.cert, server.cert), forged.cert, 'sslserver'), 'OK');
});

test('carries its names, its dates and serial numbers that are its own', async ({ authority, server }) => {
  const leaf = readIdentity(server);
  const expected =
    'DNS:svc-operator.svc-system.svc, DNS:localhost, URI:svc://node-agent, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1';
  assert.is(leaf.subjectAltName, expected);
  assert.ok(leaf.checkIP('::1'));
  const { from, to } = validityOf(leaf);
  assert.ok(Math.abs(Date.now() - 30 * 60_000 - from) < 60_000);
  assert.ok(Math.abs(Date.now() + 30 * dayMs - to) < 60_000);
  assert.is(leaf.serialNumber.length, 34);
  assert.is.not(readCertificate(authority.cert).serialNumber, leaf.serialNumber);
  assert.is(new X509Certificate(authority.cert).ca, true);
  assert.is(leaf.ca, false);
});

test('is not valid for longer than its authority', async () => {
  const now = Date.UTC(2049, 11, 1);
  const authority = await createAuthority({ commonName: 'short', days: 60, now });
  const leaf = await issueCertificate(authority, { ...names, now: now + 50 * dayMs });
  assert.is(validityOf(readCertificate(leaf.cert)).to, validityOf(readCertificate(authority.cert)).to);
  assert.is(validityOf(readCertificate(leaf.cert)).to, Date.UTC(2050, 0, 30));
});

test('serves TLS', async ({ authority, server }) => {
  const listener = createServer({ ...server }, (socket) => socket.end('here'));
  const { port, stop } = await listen(listener);
  const socket: TLSSocket = connect({ port, host: '127.0.0.1', ca: authority.cert });
  const text = (await socket.toArray()).join('');
  await stop();
  assert.is(text, 'here');
});

test('reports what cannot be read, and never what is in a key', async ({ authority, server }) => {
  assert.throws(() => readCertificate('none'), /there is no certificate/);
  assert.throws(() => readIdentity({ ...server, key: authority.key }), /does not belong/);
  const broken = server.key.replace('MII', 'XXX');
  try {
    readIdentity({ ...server, key: broken });
    assert.unreachable();
  } catch (error) {
    assert.is((error as Error).message, 'the private key cannot be read');
    assert.is((error as Error).cause, undefined);
  }
  createPrivateKey(server.key);
});

test('bundles each certificate once and leaves everything else out', ({ authority, other, server }) => {
  const bundle = bundleOf(authority.cert, `text\n${other.cert}${authority.cert}`, server.key);
  assert.is(bundle, authority.cert + other.cert);
  assert.equal(certificatesIn(bundle), [authority.cert, other.cert]);
  assert.is(bundleOf(bundle), bundle);
  assert.is(bundleOf(''), '');
});

test.run();
