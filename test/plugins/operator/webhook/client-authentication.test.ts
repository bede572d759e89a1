import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { clientAuthorities } from '../../../../src/plugins/operator/index.ts';
import { createHandler, createWebhookMetrics } from '../../../../src/plugins/operator/webhook/handler.ts';
import {
  createUnauthorizedClientLog,
  startWebhookServer,
  type WebhookServer,
} from '../../../../src/plugins/operator/webhook/start-webhook-server.ts';
import { createMetrics } from '../../../../src/runtime/health/create-metrics.ts';
import type { LogFields, Logger } from '../../../../src/runtime/logging/logger.ts';
import { createCertificateAuthority, type Identity } from '../../../support/certificates.ts';
import { http } from '../../../support/http.ts';
import { quietLog as log } from '../../../support/quiet-log.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { reviewOf } from './support/review-of.ts';

const test = suite('who may ask the webhook');
const own = createCertificateAuthority();
const certificate = { ...own.issue({ commonName: 'webhook' }), ca: own.cert };
const clients = createCertificateAuthority('API servers');
const apiServer = clients.issue({ commonName: 'kube-apiserver' });
const metrics = createWebhookMetrics(await createMetrics({ version: '0', component: 'operator' }));
const review = JSON.stringify(reviewOf({ spec: { containers: [] } }));

interface Served {
  readonly server: WebhookServer;
  readonly strangers: (readonly [string | undefined, string])[];
  /** The status, or the code of the error. */
  ask(identity?: Identity, ca?: string): Promise<unknown>;
}

async function serving(authorities: string | undefined, use: (served: Served) => Promise<void>) {
  const strangers: Served['strangers'] = [];
  const decide = async () => ({ kind: 'skip', reason: 'none of ours' }) as const;
  const server = await startWebhookServer(
    { host: '127.0.0.1', port: 0 },
    {
      ...{ certificate, handle: createHandler({ decide, metrics, log }), clientAuthorities: authorities },
      onStranger: (...told) => void strangers.push(told),
    },
  );
  const url = `https://${server.address}/mutate?timeout=10s`;
  const ask = (identity?: Identity, ca = own.cert) =>
    http(url, { method: 'POST', body: review, ca, ...(identity && { identity }) }).then(
      ({ status }) => status,
      (error: { code: string }) => error.code,
    );
  try {
    await use({ server, strangers, ask });
  } finally {
    await server.drain(0);
  }
}

test('is whoever reaches it, where no authorities are given', () =>
  serving(undefined, async ({ ask, strangers }) => {
    assert.is(await ask(), 200);
    assert.is(await ask(apiServer), 200);
    assert.equal(strangers, []);
  }));

test('is who has a certificate of the authorities, where they are', () =>
  serving(clients.cert, async ({ ask, strangers }) => {
    assert.is(await ask(apiServer), 200);
    assert.equal(strangers, []);
  }));

const expired = clients.issue({ commonName: 'kube-apiserver', notAfter: new Date(Date.now() - 60_000) });

for (const [who, identity] of [
  ['one without a certificate', undefined],
  ['one with a certificate of the webhook’s own authority', own.issue({ commonName: 'kube-apiserver' })],
  ['one with a certificate that has expired', expired],
] as const) {
  test(`${who} is not answered, and told of`, () =>
    serving(clients.cert, async ({ ask, strangers }) => {
      assert.match(String(await ask(identity)), /^E|^ERR_/);
      assert.is(strangers.length, 1);
      assert.match(strangers[0]?.[1] ?? '', /^[A-Z_]+$/);
      assert.is(await ask(apiServer), 200);
    }));
}

test('stays the same when the webhook gets another certificate', () =>
  serving(clients.cert, async ({ server, ask }) => {
    const next = createCertificateAuthority('next CA');
    server.renew({ ...next.issue({ commonName: 'renewed' }), ca: next.cert });
    assert.is(await ask(apiServer, next.cert), 200);
    assert.match(String(await ask(undefined, next.cert)), /^E/);
  }));

test('strangers are told of once a minute', () => {
  let now = 0;
  const lines: LogFields[] = [];
  const stranger = createUnauthorizedClientLog(
    { warn: (event: string, fields: LogFields) => void lines.push({ event, ...fields }) } as Logger,
    () => now,
  );
  for (now of [0, 1, 59_999, 60_000]) stranger('192.0.2.1', 'CERT_HAS_EXPIRED');
  const line = { event: 'webhook.stranger', address: '192.0.2.1', reason: 'CERT_HAS_EXPIRED' };
  assert.equal(lines, [line, { ...line, leftOut: 2 }]);
});

test('a file of authorities has to hold some', async () => {
  const folder = temporaryFolder('client-authorities');
  const path = join(folder.path, 'ca.crt');
  try {
    assert.is(await clientAuthorities(undefined), undefined);
    for (const text of ['', apiServer.key]) {
      writeFileSync(path, text);
      const error = await clientAuthorities(path).catch((one) => one);
      assert.is(error.code, 'WEBHOOK_CLIENT_CA_UNUSABLE');
      assert.match(error.message, /^SVC_OPERATOR_WEBHOOK_CLIENT_CA_FILE: /);
    }
    writeFileSync(path, clients.cert + apiServer.key);
    assert.is((await clientAuthorities(path))?.includes('PRIVATE KEY'), false);
  } finally {
    await folder.remove();
  }
});

test.run();
