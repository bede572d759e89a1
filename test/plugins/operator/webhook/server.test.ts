import { once } from 'node:events';
import { Agent } from 'node:https';
import { connect } from 'node:tls';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Decision } from '../../../../src/plugins/operator/webhook/decide.ts';
import { createHandler, createWebhookMetrics } from '../../../../src/plugins/operator/webhook/handler.ts';
import {
  startWebhookServer,
  type WebhookServer,
} from '../../../../src/plugins/operator/webhook/start-webhook-server.ts';
import { createMetrics } from '../../../../src/runtime/health/create-metrics.ts';
import { createCertificateAuthority } from '../../../support/certificates.ts';
import { http } from '../../../support/http.ts';
import { wrapped } from '../../../support/injected-pod.ts';
import { quietLog as log } from '../../../support/quiet-log.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { reviewOf } from './support/review-of.ts';

const test = suite('webhook server');
const authority = createCertificateAuthority();
const ca = authority.cert;
const certificate = { ...authority.issue({ commonName: 'webhook' }), ca };
const skip: Decision = { kind: 'skip', reason: 'none of ours' };
const metrics = await createMetrics({ version: '0', component: 'operator' });
const measured = createWebhookMetrics(metrics);

async function serving(
  decide: () => Promise<Decision>,
  use: (url: string, server: WebhookServer) => Promise<void>,
): Promise<void> {
  const handle = createHandler({ decide, metrics: measured, log });
  const server = await startWebhookServer({ host: '127.0.0.1', port: 0 }, { certificate, handle });
  try {
    await use(`https://${server.address}`, server);
  } finally {
    await server.drain(0);
  }
}

const review = JSON.stringify(reviewOf({ spec: { containers: [] } }));
const post = (url: string, body = review) => http(`${url}/mutate?timeout=10s`, { method: 'POST', body, ca });

test('answers a review, and counts it', () =>
  serving(
    () => Promise.resolve(skip),
    async (url) => {
      const { status, json } = await post(url);
      assert.is(status, 200);
      assert.equal((json as { response: object }).response, { uid: 'review-1', allowed: true });
      const { body } = await metrics.expose();
      assert.match(body, /svc_webhook_injection_total\{status="skipped"\} 1/);
      assert.match(body, /svc_webhook_injection_total\{status="error"\} 0/);
    },
  ));

test('counts a pod once, and no dry run', async () => {
  const own = await createMetrics({ version: '0', component: 'operator' });
  const container = {
    name: 'app',
    command: ['/svc/svc-wrapper'],
    env: [{ name: 'SVC_ORIGINAL_CMD', value: '/a' }],
  };
  const labels = { 'svc/protected': 'true' };
  const mounts = { volumeMounts: [{ name: 'svc-wrapper', mountPath: '/svc' }] };
  const again = { metadata: { labels }, ...{ spec: wrapped({ ...container, ...mounts }) } };
  const inject: Decision = { kind: 'inject', patch: [], warnings: [], serviceConfig: undefined };
  const handle = createHandler({ decide: async () => inject, metrics: createWebhookMetrics(own), log });
  const server = await startWebhookServer({ host: '127.0.0.1', port: 0 }, { certificate, handle });
  const send = (object: object, request = {}) =>
    post(`https://${server.address}`, JSON.stringify(reviewOf(object, request)));
  try {
    await send({ spec: { containers: [] } });
    await send({ spec: { containers: [] } }, { dryRun: true });
    await send(again);
    const { body } = await own.expose();
    assert.match(body, /svc_webhook_injection_total\{status="success"\} 1\n/);
    assert.match(body, /svc_webhook_duration_seconds_count 3/);
  } finally {
    await server.drain(0);
  }
});

test('refuses what is no review', () =>
  serving(
    () => Promise.resolve(skip),
    async (url) => {
      assert.is((await post(url, '{')).status, 400);
      assert.is((await http(`${url}/mutate`, { ca })).status, 405);
      assert.is((await http(`${url}/`, { ca })).status, 404);
      assert.is((await post(url, 'x'.repeat(9 * 1024 * 1024)).catch(() => ({ status: 413 }))).status, 413);
    },
  ));

test('answers what is in flight before it ends, and takes nothing new', async () => {
  const gate = Promise.withResolvers<Decision>();
  const asked = Promise.withResolvers<void>();
  await serving(
    () => {
      asked.resolve();
      return gate.promise;
    },
    async (url, server) => {
      const answer = post(url);
      await asked.promise;
      const drained = server.drain(10_000);
      await rejects(post(url));
      gate.resolve(skip);
      assert.is((await answer).status, 200);
      await drained;
    },
  );
});

test('asks callers to close their connections when it is going, and answers them still', () =>
  serving(
    () => Promise.resolve(skip),
    async (url, server) => {
      const agent = new Agent({ ca, keepAlive: true });
      const ask = () => http(`${url}/mutate?timeout=10s`, { method: 'POST', body: review, agent });
      assert.is((await ask()).headers['connection'], 'keep-alive');
      const lingering = server.linger({ leastMs: 100, quietMs: 0, mostMs: 60_000 });
      const { status, headers } = await ask();
      assert.is(status, 200);
      assert.is(headers['connection'], 'close');
      await lingering;
      agent.destroy();
    },
  ));

test('reviews for which there is no room in time are refused, and counted', async () => {
  const gate = Promise.withResolvers<Decision>();
  let asked = 0;
  await serving(
    () => {
      asked += 1;
      return gate.promise;
    },
    async (url) => {
      const spaces = ' '.repeat(1_900_000);
      const large = [post(url, review + spaces), post(url, review + spaces)];
      await waitFor('both', () => asked === 2);
      const refused = await http(`${url}/mutate?timeout=1s`, { method: 'POST', body: review + spaces, ca });
      assert.is(refused.status, 503);
      assert.match(refused.text, /too many reviews/);
      assert.match((await metrics.expose()).body, /svc_webhook_injection_total\{status="error"\} 1/);
      const small = post(url);
      await waitFor('a small one', () => asked === 3);
      gate.resolve(skip);
      for (const { status } of await Promise.all([...large, small])) assert.is(status, 200);
    },
  );
});

test('new connections get a renewed certificate', () =>
  serving(
    () => Promise.resolve(skip),
    async (url, server) => {
      const next = createCertificateAuthority('next CA');
      server.renew({ ...next.issue({ commonName: 'renewed' }), ca: next.cert });
      const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), ca: next.cert });
      await once(socket, 'secureConnect');
      assert.is(socket.getPeerCertificate().subject.CN, 'renewed');
      socket.destroy();
      await rejects(post(url));
    },
  ));

async function rejects(promise: Promise<unknown>): Promise<void> {
  const outcome = await promise.then(
    () => 'answered',
    () => 'rejected',
  );
  assert.is(outcome, 'rejected');
}

test.run();
