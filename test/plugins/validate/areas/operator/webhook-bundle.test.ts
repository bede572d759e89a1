import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { webhookBundle } from '../../../../../src/plugins/validate/areas/operator/webhook.ts';
import { runCheck } from '../../../../../src/plugins/validate/run-check.ts';
import { now } from '../../cluster/authority.ts';
import { admitting, fixtureOf } from '../../cluster/fixture-of.ts';
import type { healthyCluster } from '../../cluster/healthy-cluster.ts';
import { contextOf } from '../../test-context.ts';

const test = suite("the webhook's CA bundle, when it ends soon");

const soon = () => now + 0.95 * 86_400_000;
const refused = 'failed calling webhook "annotated.svc.io": failed to call webhook: Post "https://x": ';

async function verdict(admit: NonNullable<ReturnType<typeof healthyCluster>['admit']>) {
  const context = contextOf({ ...fixtureOf(admitting(admit))(), now: soon });
  const result = await runCheck(webhookBundle, context);
  assert.is(result.state, 'failed', JSON.stringify(result));
  if (result.state !== 'failed') return [];
  const levels = result.failures.map(({ level }) => level);
  return [...levels, ...(result.unknown === undefined ? [] : ['unknown'])];
}

test('that is told, whatever the webhook itself shows', async () => {
  assert.equal(await verdict(() => `${refused}context deadline exceeded`), ['warning', 'warning']);
  assert.equal(await verdict(() => `${refused}tls: x509: unknown authority`), [
    ...[undefined, 'warning', 'warning'],
  ]);
  assert.equal(await verdict((pod) => pod), ['warning', 'warning', 'unknown']);
});

test.run();
