import { writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  followCertDir,
  readCertDir,
  type ServerCertificate,
} from '../../../../src/plugins/operator/certificates/follow-certificates.ts';
import { SvcError } from '../../../../src/runtime/errors.ts';
import { createHealth } from '../../../../src/runtime/health/health.ts';
import type { TlsIdentity } from '../../../../src/runtime/net/certificates.ts';
import {
  compose,
  createAuthority,
  issueCertificate,
  rsaKeyPair,
} from '../../../../src/runtime/net/issue-certificate.ts';
import { quietLog } from '../../../support/quiet-log.ts';
import { temporaryFolder } from '../../../support/temporary.ts';

interface Context {
  authority: TlsIdentity;
  other: TlsIdentity;
  leaf: TlsIdentity;
  put(files: Readonly<Record<string, string | undefined>>): void;
  read(now?: number): Promise<ServerCertificate>;
  folder: string;
  remove(): Promise<void>;
}

const test = suite<Context>('folder with the certificate of the webhook');
const host = 'svc-operator.svc-system.svc';
const names = { commonName: 'x', dnsNames: [host], days: 10, usage: 'server' as const };

test.before(async (context) => {
  context.authority = await createAuthority({ commonName: 'one', days: 20 });
  context.other = await createAuthority({ commonName: 'other', days: 20 });
  context.leaf = await issueCertificate(context.authority, names);
});

test.before.each((context) => {
  const { path, remove } = temporaryFolder('cert-dir');
  Object.assign(context, { folder: path, remove });
  context.put = (files) => {
    for (const [name, text] of Object.entries(files))
      if (text !== undefined) writeFileSync(join(path, name), text);
  };
  context.read = (now = Date.now()) => readCertDir({ folder: path, host, now: () => now });
});

test.after.each(({ remove }) => remove());

async function errors(work: Promise<unknown>): Promise<readonly string[]> {
  try {
    await work;
  } catch (error) {
    assert.instance(error, SvcError);
    assert.is((error as SvcError).exitStatus, 78);
    return (error as SvcError).details;
  }
  throw new Error('it was taken');
}

test('takes ca.crt, or else the last certificate of the chain, for the authority', async (context) => {
  const { authority, other, leaf, put, read } = context;
  put({ 'tls.crt': leaf.cert, 'tls.key': leaf.key, 'ca.crt': other.cert + authority.cert });
  assert.equal(await read(), { ...leaf, ca: other.cert + authority.cert });
  put({ 'tls.crt': leaf.cert + authority.cert, 'ca.crt': '' });
  assert.is((await read()).ca, authority.cert);
});

test('follows the chain to an authority that stands in ca.crt alone', async ({
  put,
  read,
  authority,
  other,
}) => {
  const { publicKey, privateKey } = await rsaKeyPair(2_048);
  const name = (value: string) => [{ name: 'commonName', value }];
  const dates = { notBefore: Date.now() - 60_000, notAfter: Date.now() + 86_400_000 };
  const extensions = [{ name: 'basicConstraints', cA: true, critical: true }];
  const plan = { publicKey, subject: name('between'), issuer: name('one'), ...dates, extensions };
  const between = { cert: compose(plan, authority.key), key: privateKey };
  const leaf = await issueCertificate(between, { ...names, days: 1 });
  put({ 'tls.crt': leaf.cert + between.cert, 'tls.key': leaf.key, 'ca.crt': authority.cert });
  assert.is((await read()).ca, authority.cert);
  put({ 'ca.crt': other.cert });
  assert.match((await errors(read())).join(), /not verified/);
  put({ 'tls.crt': leaf.cert, 'ca.crt': authority.cert });
  assert.match((await errors(read())).join(), /not verified/);
});

test('refuses one that is for another host, or that nobody vouches for', async ({ put, read, authority }) => {
  const self = await issueCertificate(authority, names);
  put({ 'tls.crt': authority.cert, 'tls.key': authority.key });
  assert.equal(await errors(read()), [`tls.crt is not for ${host}`]);
  put({ 'tls.crt': self.cert, 'tls.key': self.key });
  assert.match((await errors(read())).join(), /not verified/);
});

test('refuses, naming all errors', async ({ put, read, leaf, authority, other }) => {
  const neither = ['tls.crt cannot be read (ENOENT)', 'tls.key cannot be read (ENOENT)'];
  assert.equal(await errors(read()), neither);
  put({ 'tls.crt': leaf.cert, 'tls.key': other.key, 'ca.crt': authority.cert });
  assert.match((await errors(read())).join(), /does not belong/);
  const wrong = await issueCertificate(other, { ...names, dnsNames: ['elsewhere'] });
  put({ 'tls.crt': wrong.cert, 'tls.key': wrong.key });
  const all = await errors(read(Date.now() + 15 * 86_400_000));
  assert.is(all.length, 3);
  assert.match(all.join('; '), /not for svc-operator.*not verified.*expired/);
  put({ 'tls.crt': 'nothing' });
  assert.equal(await errors(read()), ['there is no certificate in it']);
  put({ 'tls.crt': leaf.cert, 'tls.key': leaf.key, 'ca.crt': 'nothing' });
  assert.match((await errors(read())).join(), /not verified/);
});

test('never says what is in the key', async ({ put, read, leaf, authority }) => {
  const secret = leaf.key.slice(60, 100);
  put({ 'tls.crt': leaf.cert, 'tls.key': `${secret}\n`, 'ca.crt': authority.cert });
  const text = (await errors(read())).join();
  assert.not.match(text, secret);
  assert.is(text, 'the private key cannot be read');
});

test('refuses to start without a usable one, and ends when it is told', async (context) => {
  const { put, leaf, authority, folder } = context;
  const controller = new AbortController();
  const served: string[] = [];
  const options = {
    ...{ folder, host, now: Date.now, intervalMs: 3_600_000, health: createHealth(), log: quietLog },
    ...{ signal: controller.signal, onCertificate: ({ cert }: ServerCertificate) => void served.push(cert) },
  };
  await errors(followCertDir(options));
  put({ 'tls.crt': leaf.cert, 'tls.key': leaf.key, 'ca.crt': authority.cert });
  const following = await followCertDir(options);
  assert.is(served[0], leaf.cert);
  await rm(join(folder, 'tls.key'));
  controller.abort();
  await following.closed;
});

test.run();
