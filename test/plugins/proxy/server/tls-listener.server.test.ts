import { createHash, randomBytes } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCertificateAuthority, type Identity } from '../../../support/certificates.ts';
import { clientsFor } from '../../../support/clients.ts';
import { rawHttp } from '../../../support/raw-http.ts';
import { type Rig, type RiggedProxy, startRig } from '../../../support/rig.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';

export const idle = true;

const test = suite('callers over TLS');

const authority = createCertificateAuthority();
const folder = temporaryFolder('tls-listener');
const file = (name: string) => join(folder.path, name);
const caFile = file('ca.pem');
const env = { SVC_PROXY_TLS_CERT: file('tls.crt'), SVC_PROXY_TLS_KEY: file('tls.key') };

/** As Kubernetes does: each file is there as a whole. */
function install({ cert, key }: Identity): void {
  for (const [name, text] of Object.entries({ 'tls.crt': cert, 'tls.key': key })) {
    writeFileSync(file(`${name}.new`), text);
    renameSync(file(`${name}.new`), file(name));
  }
}

let rig: Rig;
let proxy: RiggedProxy;

test.before(async () => {
  writeFileSync(caFile, authority.cert);
  install(authority.issue({ commonName: 'first' }));
  rig = await startRig();
  proxy = await rig.proxy({ env });
});
test.after(async () => {
  await rig?.stop();
  await folder.remove();
});

const target = () => ({ ...proxy.target, caFile });

/** The common name of what the listener shows. */
const shownName = () =>
  new Promise<unknown>((resolve, reject) => {
    const { port } = new URL(proxy.url);
    const socket = connectTls({ port: Number(port), host: '127.0.0.1', ca: authority.cert }, () => {
      resolve(socket.getPeerCertificate().subject['CN']);
      socket.destroy();
    });
    socket.on('error', reject);
  });

test('clients put and get objects, large ones too, in the way that they choose over TLS', async () => {
  assert.match(proxy.url, /^https:/);
  const clients = clientsFor(target());
  const body = randomBytes(20 * 1024 * 1024);
  const digest = createHash('sha256').update(body).digest('hex');
  writeFileSync(join(clients.dir, 'body'), body);
  const wrote = await clients.aws(['s3', 'cp', 'body', `s3://${rig.bucket}/aws`]);
  assert.is(wrote.status, 0, wrote.stderr);
  const copied = await clients.rclone(['copyto', 'body', `svc:${rig.bucket}/rclone`]);
  assert.is(copied.status, 0, copied.stderr);
  for (const key of ['aws', 'rclone']) {
    const read = await clients.boto3(
      `print(hashlib.sha256(s3.get_object(Bucket='${rig.bucket}', Key='${key}')['Body'].read()).hexdigest())`,
    );
    assert.is(read.stdout.trim(), digest, read.stderr);
  }
  await clients.stop();
});

test('a caller that does not trust the certificate, or speaks plain HTTP, is not served, and others are', async () => {
  const strangers = clientsFor({ ...proxy.target, caFile: undefined });
  const refused = await strangers.boto3(`s3.list_buckets()`);
  assert.match(refused.stderr, 'SSLError');
  await strangers.stop();
  const plain = await rawHttp(proxy.url.replace('https:', 'http:'));
  assert.is(plain.status, 0);
  assert.is(await shownName(), 'first');
});

test('another certificate in the files is shown to new connections, and one that does not fit is not taken', async () => {
  const [second, third] = ['second', 'third'].map((commonName) => authority.issue({ commonName }));
  assert.ok(second && third);
  writeFileSync(file('tls.crt'), second.cert);
  await waitFor(
    'the log',
    () => /"proxy\.tls\.refused".*is not the key of the certificate/.test(proxy.output()),
    {
      timeoutMs: 30_000,
    },
  );
  assert.is(await shownName(), 'first');
  install(second);
  await waitFor('the second certificate', async () => (await shownName()) === 'second', {
    timeoutMs: 30_000,
  });
  writeFileSync(file('tls.crt'), 'nothing');
  await waitFor('the log', () => /holds no certificate in PEM/.test(proxy.output()), { timeoutMs: 30_000 });
  assert.is(await shownName(), 'second');
  install(third);
  await waitFor('the third certificate', async () => (await shownName()) === 'third', { timeoutMs: 30_000 });
  assert.not.match(proxy.output(), 'PRIVATE KEY');
});

test('hundreds of connections that never end their handshake keep nobody out', async () => {
  const sockets: Socket[] = [];
  const { port } = new URL(proxy.url);
  for (let count = 0; count < 700; count++)
    sockets.push(connect(Number(port), '127.0.0.1').on('error', () => undefined));
  await waitFor('most of them to be ended', () => sockets.filter(({ destroyed }) => destroyed).length > 500);
  assert.is(await shownName(), 'third');
  for (const socket of sockets) socket.destroy();
});

test('a caller that stops in the middle of its body loses its connection, and the proxy drains', async () => {
  const upload = request(`${proxy.url}/${rig.bucket}/stopped`, { method: 'PUT', ca: authority.cert });
  upload.setHeader('content-length', 1_000_000);
  const broken = new Promise<Error>((resolve) => upload.on('error', resolve));
  upload.write(randomBytes(1000));
  await waitFor('the request to be served', async () => {
    const { body } = await rawHttp(`${proxy.health}/metrics`);
    return /in_flight\S* 1$/m.test(body.toString());
  });
  upload.destroy(new Error('stopped'));
  await broken;
  assert.is(await shownName(), 'third');
  await proxy.stop();
});

test.run();
