import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCertificateAuthority } from '../../support/certificates.ts';
import { runCommand } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const test = suite('what svc netpol writes to a terminal');
const entry = fileURLToPath(new URL('../../../bin/run.js', import.meta.url));
const folder = temporaryFolder('netpol-terminal');
const hostile = 'wide\u001b]0;title\u0007\u202e\r\nWarning: forged';
let server: Server;

/** A policy of a name that no API server admits, and nothing else. */
const objects = (path: string) =>
  path.includes('/networkpolicies')
    ? [
        {
          metadata: { name: hostile, namespace: 'shop', uid: 'a', resourceVersion: '1' },
          spec: { podSelector: {}, policyTypes: ['Egress'], egress: [{}] },
        },
      ]
    : [];

test.before(async () => {
  const authority = createCertificateAuthority();
  const { cert, key } = authority.issue({ commonName: 'api' });
  server = createServer({ cert, key }, ({ url = '' }, response) => {
    const list = { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '1' }, items: objects(url) };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(list));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    clusters: [
      {
        name: 'c',
        cluster: {
          server: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
          'certificate-authority-data': Buffer.from(authority.cert).toString('base64'),
        },
      },
    ],
    users: [{ name: 'u', user: { token: 'not-a-token' } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  };
  writeFileSync(join(folder.path, 'kubeconfig'), JSON.stringify(config));
});
test.after(async () => {
  server?.close();
  await folder.remove();
});

test('names of objects do nothing to it, and add no line', async () => {
  const { status, stderr } = await runCommand(
    process.execPath,
    [entry, 'netpol', '--vault-address', 'https://192.0.2.1:8200', '--namespace', 'shop'],
    folder.path,
    { env: { KUBECONFIG: join(folder.path, 'kubeconfig') } },
  );
  assert.is(status, 0, stderr);
  assert.match(
    stderr,
    'NetworkPolicy shop/wide\\u{1b}]0;title\\u{7}\\u{202e}\\u{d}\\u{a}Warning: forged lets',
  );
  assert.not.match(stderr, /[^\P{C}\n]/u);
  assert.not.match(stderr, /^Warning: forged/m);
});

test.run();
