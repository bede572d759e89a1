import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startMetricsServer } from '../../../src/plugins/operator/index.ts';
import { createWebhookMetrics } from '../../../src/plugins/operator/webhook/handler.ts';
import type { ComponentDeps } from '../../../src/runtime/component/contract.ts';
import { createMetrics } from '../../../src/runtime/health/create-metrics.ts';
import { createHealth } from '../../../src/runtime/health/health.ts';
import { quietLog } from '../../support/quiet-log.ts';

const test = suite('the port of the metrics');

const deps = async (): Promise<ComponentDeps> => ({
  log: quietLog,
  health: createHealth(),
  metrics: await createMetrics({ version: '0.0.0', component: 'operator' }),
  env: {},
});

test('shows what the parts count, and those of the process, until it is told to end', async () => {
  const end = new AbortController();
  const given = await deps();
  createWebhookMetrics(given.metrics).answered({ kind: 'skip', reason: '' }, 1, true);
  const { address, closed } = await startMetricsServer({ host: '127.0.0.1', port: 0 }, given, end.signal);
  const text = await (await fetch(`http://${address}/metrics`)).text();
  assert.match(text, /^svc_webhook_injection_total\{status="skipped"\} 1$/m);
  assert.match(text, /^svc_webhook_injection_total\{status="error"\} 0$/m);
  assert.match(text, /^process_resident_memory_bytes /m);
  end.abort();
  await closed;
  const refused = await fetch(`http://${address}/metrics`).then(
    () => false,
    () => true,
  );
  assert.ok(refused);
});

test('can be turned off', async () => {
  const { address, closed } = await startMetricsServer(undefined, await deps(), new AbortController().signal);
  assert.is(address, '');
  await closed;
});

test.run();
