import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { listen } from '../../support/loopback.ts';
import { runCommand } from '../../support/run-command.ts';
import { temporaryFolder } from '../../support/temporary.ts';

const test = suite('svc netpol before an API server that lies');
const entry = fileURLToPath(new URL('../../../bin/run.js', import.meta.url));
const hostile = 'open\u001b]0;taken\u0007\u202e';

const pod = {
  metadata: {
    namespace: 'shop',
    name: 'pod',
    uid: '1',
    resourceVersion: '1',
    labels: { 'svc/protected': 'true' },
  },
  spec: {
    containers: [{ name: 'app', image: 'app', env: [{ name: 'VAULT_ADDR', value: 'https://192.0.2.1' }] }],
  },
};
const policy = {
  metadata: { namespace: 'shop', name: hostile, uid: '2', resourceVersion: '1' },
  spec: { podSelector: {}, policyTypes: ['Egress'], egress: [{ to: [{ ipBlock: { cidr: '0.0.0.0/0' } }] }] },
};

test('writes names of others without what a terminal would act upon', async () => {
  const server = createServer(({ url = '' }, response) => {
    const [, kind] = /\/(pods|networkpolicies)\b/.exec(url) ?? [];
    const items = kind === 'pods' ? [pod] : kind === 'networkpolicies' ? [policy] : [];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ metadata: { resourceVersion: '1' }, items }));
  });
  const { url: address, stop } = await listen(server);
  const folder = temporaryFolder('netpol');
  const kubeconfig = join(folder.path, 'config');
  const cluster = {
    server: address,
    'insecure-skip-tls-verify': true,
  };
  const context = { cluster: 'c', user: 'u' };
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      'current-context': 'x',
      clusters: [{ name: 'c', cluster }],
      users: [{ name: 'u', user: {} }],
      contexts: [{ name: 'x', context }],
    }),
  );
  const env = { KUBECONFIG: kubeconfig, HOME: folder.path };
  const args = [entry, 'netpol', '--vault-address', 'https://192.0.2.1', '--namespace', 'shop'];
  const { status, stdout, stderr } = await runCommand(process.execPath, args, folder.path, { env });
  await stop();
  await folder.remove();
  assert.is(status, 0, stderr);
  assert.match(
    stderr,
    'NetworkPolicy shop/open\\u{1b}]0;taken\\u{7}\\u{202e} lets protected pods reach more',
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  assert.not.match(stdout + stderr, /[\u001b\u0007\u202e]/);
});

test.run();
