import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { kubeClientOver } from '../../../../src/cluster/kube/create-client.ts';
import { createAgentPool } from '../../../../src/cluster/kube/kubeconfig.ts';
import { createAgent } from '../../../../src/runtime/net/http-client/agent.ts';

interface Context {
  server: http.Server;
  origin: URL;
  stop: AbortController;
}

/** An error that nobody listens to ends a process; here the runner takes it for a failure of the suite. */
const test = suite<Context>('a request that is aborted as the last of its answer is read');

test.before.each(async (context) => {
  context.server = http.createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1');
  await once(context.server, 'listening');
  const { port } = context.server.address() as AddressInfo;
  context.origin = new URL(`http://127.0.0.1:${port}`);
  context.stop = new AbortController();
});
test.after.each(({ server }) => {
  server.closeAllConnections();
  server.close();
});

test('ends no process', async ({ origin, stop }) => {
  const agent = createAgent('http:', { keepAlive: true });
  const failures: Error[] = [];
  const request = http.get(origin, { agent, signal: stop.signal }, (answer) => {
    answer.once('data', () => stop.abort());
  });
  request.on('error', (error) => failures.push(error));
  await once(request, 'close');
  await sleep(20);
  assert.equal(failures, []);
});

test('ends no process that asks the API server', async ({ origin, stop }) => {
  const pool = createAgentPool('http:');
  const client = kubeClientOver({
    ...{ server: origin, origin: 'test', close: () => pool.close() },
    credentials: async () => ({ headers: {}, agent: pool.agentFor({}) }),
  });
  const asked = client.read({ path: '/version', signal: stop.signal }, async (body) => {
    for await (const _ of body) stop.abort(new Error('the test ends it'));
  });
  await asked.catch(() => undefined);
  await sleep(20);
  assert.ok(stop.signal.aborted);
  client.close();
});

test.run();
