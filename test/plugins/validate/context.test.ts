import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { namespacesOf } from '../../../src/plugins/validate/cluster/read.ts';
import type { ValidateCall } from '../../../src/plugins/validate/read-settings.ts';
import { openContext } from '../../../src/plugins/validate/run-check.ts';
import { patient } from '../../support/patience.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';
import { configOf } from './test-context.ts';

const test = suite<{ folder: TemporaryFolder; server: Server }>('what an attempt opens');

test.before.each(async (context) => {
  context.folder = temporaryFolder('validate-context');
  context.server = createServer().listen(0, '127.0.0.1');
  await once(context.server, 'listening');
});

test.after.each(async ({ folder, server }) => {
  server.closeAllConnections();
  server.close();
  await folder.remove();
});

function attemptAt({ folder, server }: { folder: TemporaryFolder; server: Server }, signal: AbortSignal) {
  const { port } = server.address() as AddressInfo;
  const KUBECONFIG = join(folder.path, 'config');
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'c' },
    clusters: [
      { name: 'c', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } },
    ],
    users: [{ name: 'u', user: {} }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
  };
  writeFileSync(KUBECONFIG, JSON.stringify(config));
  const call = { env: { KUBECONFIG }, version: '1.0.0', components: async () => [] };
  const settings = { configFile: undefined, config: configOf(), errors: [] };
  return openContext({
    call: call as unknown as ValidateCall,
    settings,
    pre: false,
    signal,
    onProgress() {},
  });
}

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => new Error('it did not fail'),
    (error) => error as Error,
  );

test('a cluster that does not answer is given up when the attempt is over', async (given) => {
  const context = attemptAt(given, new AbortController().signal);
  const connecting = failureOf(context.cluster());
  await once(given.server, 'request');
  assert.not.ok(context.signal.aborted);
  const before = performance.now();
  await context.close();
  assert.ok(context.signal.aborted);
  assert.match((await connecting).message, /cannot be used/);
  assert.ok(performance.now() - before < patient(4_000));
});

test('so is what checks share, and an interruption ends both', async (given) => {
  given.server.on('request', ({ url }, response) => {
    if (url === '/version') response.end('{}');
  });
  const stop = new AbortController();
  for (const end of [(context: { close(): Promise<void> }) => context.close(), async () => stop.abort()]) {
    const context = attemptAt(given, stop.signal);
    await context.cluster();
    const loading = failureOf(namespacesOf(context));
    await once(given.server, 'request');
    await end(context);
    assert.is((await loading).name, 'AbortError');
    await context.close();
  }
});

test.run();
