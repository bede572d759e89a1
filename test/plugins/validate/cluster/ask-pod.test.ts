import { createServer } from 'node:http';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { askPod } from '../../../../src/plugins/validate/cluster/ask-pod.ts';
import { listen } from '../../../support/loopback.ts';
import { contextOf } from '../test-context.ts';
import { fakeClient } from './fake-cluster.ts';

const test = suite('asking a pod');
const pages = { 'shop/web:8081/healthz': 'from the API server', 'shop/web:8081/readyz': 503 };

const asking = (origin: string) =>
  contextOf({ cluster: async () => ({ ...fakeClient({ objects: [], pages }), origin }) });
const web = { namespace: 'shop', name: 'web', address: '127.0.0.1' };

test('goes through the API server from outside, and tells an answer from none', async () => {
  const context = asking('kubeconfig');
  assert.equal(await askPod(context, web, 8081, 'healthz'), { kind: 'ok', text: 'from the API server' });
  assert.equal(await askPod(context, web, 8081, 'readyz'), { kind: 'refused', status: 503 });
  const silent = await askPod(context, web, 9, 'healthz');
  assert.equal(silent, { kind: 'silent', because: 'dial tcp: connection refused' });
});

test('goes to the pod itself from within the cluster, and through the API server where that fails', async () => {
  const server = createServer((_, response) => void response.end('from the pod'));
  const { port, stop } = await listen(server);
  const context = asking('service account');
  assert.equal(await askPod(context, web, port, 'healthz'), { kind: 'ok', text: 'from the pod' });
  await stop();
  assert.is((await askPod(context, web, port, 'healthz')).kind, 'silent');
  const there = { ...web, address: undefined };
  assert.equal(await askPod(context, there, 8081, 'healthz'), { kind: 'ok', text: 'from the API server' });
});

test.run();
