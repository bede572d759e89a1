import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:tls';
import * as assert from 'uvu/assert';
import { createCertificateAuthority } from '../../../support/certificates.ts';
import { anyNode, oneNode } from '../../../support/operator-channel.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type AgentRig, accessEventBy } from './agent-rig.ts';
import { suiteWithOperator } from './with-operator.ts';

const test = suiteWithOperator('mutual TLS with the operator');

const connected = ({ channel }: AgentRig) => waitFor('the connection', () => channel.status.connected);
const failed = ({ channel }: AgentRig, reason: RegExp) =>
  waitFor(`the failure ${reason}`, () => reason.test(channel.status.lastError ?? ''), {
    timeoutMs: 10_000,
    details: () => String(channel.status.lastError),
  });
const aDayAgo = () => new Date(Date.now() - 86_400_000);

test('refuses an operator of another authority', async ({ operator, start }) => {
  operator.writeTls({ ca: createCertificateAuthority('another').cert });
  await failed(start(), /certificate/);
  assert.is(operator.reports.length, 0);
});

test('refuses an operator whose certificate has another name', async ({ operator, start }) => {
  operator.down();
  const server = operator.authority.issue({ commonName: '127.0.0.1', dnsNames: ['other'], addresses: [] });
  await operator.up({ server, clientCa: operator.authority.cert });
  await failed(start(), /altnames|IP/);
  assert.is(operator.reports.length, 0);
});

test('checks a name as it stands in the address, at every address behind it', async ({ operator, start }) => {
  await connected(start({ address: { host: 'localhost', port: operator.address.port } }));
  operator.down();
  const server = operator.authority.issue({ commonName: 'localhost', dnsNames: ['other'] });
  await operator.up({ server, clientCa: operator.authority.cert });
  await failed(start({ address: { host: 'localhost', port: operator.address.port } }), /localhost/);
});

test('refuses an operator whose certificate has expired', async ({ operator, start }) => {
  operator.down();
  const server = operator.authority.issue({ commonName: 'svc-operator', notAfter: aDayAgo() });
  await operator.up({ server, clientCa: operator.authority.cert });
  await failed(start(), /expired/);
});

test('refuses TLS below 1.2', async ({ operator, start }) => {
  operator.down();
  const identity = operator.authority.issue({ commonName: 'svc-operator' });
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  const server = createServer({ ...identity, ...old, ALPNProtocols: ['h2'] });
  server.on('tlsClientError', () => {});
  server.listen(operator.address.port, '127.0.0.1');
  await once(server, 'listening');
  const shaken = once(server, 'secureConnection').then(() => 'accepted');
  await failed(start(), /version|protocol/i);
  assert.is(await Promise.race([shaken, Promise.resolve('refused')]), 'refused');
  server.close();
});

test('says that its own certificate has expired', async ({ operator, start }) => {
  operator.writeTls(operator.authority.issue({ commonName: 'agent', uris: [anyNode], notAfter: aDayAgo() }));
  const agent = start();
  await failed(agent, /^the agent's certificate expired at 20\d\d-/);
  operator.writeTls(operator.authority.issue({ commonName: 'agent', uris: [anyNode] }));
  await connected(agent);
});

test('reports for the node of its certificate only', async ({ operator, start }) => {
  operator.writeTls(operator.authority.issue({ commonName: 'agent', uris: [oneNode('node-1')] }));
  await connected(start());
  const other = start({ node: 'node-2' });
  await failed(other, /no certificate for node-2/);
  assert.ok(other.lines.some(({ result }) => result === 'permission_denied'));
});

test('is not admitted with a certificate of another kind', async ({ operator, start }) => {
  operator.writeTls(operator.authority.issue({ commonName: 'svc://node-agent' }));
  await failed(start(), /no certificate/);
});

test('uses new files at the next report, without a gap', async ({ operator, start }) => {
  const agent = start();
  await connected(agent);
  operator.writeTls(operator.authority.issue({ commonName: 'agent', uris: [oneNode('node-2')] }));
  agent.channel.hit(accessEventBy(1));
  await failed(agent, /no certificate for node-1/);
  operator.writeTls(operator.authority.issue({ commonName: 'agent', uris: [oneNode('node-1')] }));
  await connected(agent);
  await waitFor('the hit', () => operator.hits.length === 1);
});

test('follows the operator to another authority', async ({ operator, start }) => {
  const next = createCertificateAuthority('next CA');
  const agent = start();
  await connected(agent);
  operator.writeTls({ ca: operator.authority.cert + next.cert });
  operator.down();
  const server = next.issue({ commonName: 'svc-operator' });
  await operator.up({ server, clientCa: operator.authority.cert + next.cert });
  agent.channel.hit(accessEventBy(1));
  await waitFor('the hit', () => operator.hits.length === 1);
  operator.writeTls({ ...next.issue({ commonName: 'agent', uris: [anyNode] }), ca: next.cert });
  operator.down();
  await operator.up({ server, clientCa: next.cert });
  agent.channel.hit(accessEventBy(2));
  await waitFor('the other hit', () => operator.hits.length === 2);
});

test('goes on with the former files while the new ones do not fit together', async ({ operator, start }) => {
  const agent = start();
  await connected(agent);
  const next = operator.authority.issue({ commonName: 'agent', uris: [anyNode] });
  operator.writeTls({ cert: next.cert });
  operator.down();
  await operator.up();
  agent.channel.hit(accessEventBy(1));
  await waitFor('the hit', () => operator.hits.length === 1);
  rmSync(operator.tls.certPath);
  agent.channel.hit(accessEventBy(2));
  await waitFor('the other hit', () => operator.hits.length === 2);
});

test('waits for files that are not there yet', async ({ operator, start }) => {
  for (const path of Object.values(operator.tls)) rmSync(path);
  const agent = start();
  await failed(agent, /the TLS files cannot be used \(.*tls\.crt.*ENOENT/);
  assert.ok(agent.lines.some(({ result }) => result === 'tls_files'));
  const identity = operator.authority.issue({ commonName: 'agent', uris: [anyNode] });
  operator.writeTls({ ...identity, ca: operator.authority.cert });
  await connected(agent);
});

test('trusts nobody where the file of authorities is empty', async ({ operator, start }) => {
  operator.writeTls({ ca: '' });
  await failed(start(), /the file of authorities has no certificate/);
});

test('never puts the key into a message', async ({ operator, start }) => {
  const { key } = operator.authority.issue({ commonName: 'agent' });
  operator.writeTls({ key: key.replaceAll('A', 'B') });
  const agent = start();
  await failed(agent, /the TLS files cannot be used/);
  const written = JSON.stringify([agent.lines, agent.channel.status]);
  assert.not.ok(written.includes(key.slice(60, 90)));
  assert.not.ok(written.includes('PRIVATE KEY'));
});

test.run();
