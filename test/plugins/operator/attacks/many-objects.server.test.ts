import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from '../../../support/http.ts';
import { repetitions } from '../../../support/repetitions.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { reviewOf } from '../webhook/support/review-of.ts';
import { usualPod } from '../webhook/support/worst-pods.ts';
import { type LimitedOperator, startLimitedOperator } from './limited-operator.ts';

const test = suite('the operator in 128 MiB, beside more objects than it has room for marks');
export const timeout = 300_000;

/** The room is full of 700 of them, and that of marks of 1,300. */
const count = repetitions(6_000, 20_000);
const crowd = '/api/v1/namespaces/crowd/pods';
const configs = '/apis/svc.io/v1alpha1/namespaces/crowd/serviceconfigs';
const config = {
  ...{ selector: { matchLabels: { app: 'usual' } }, vault: { role: 'app' }, secretPaths: ['secret/a'] },
};

let limited: LimitedOperator;
test.before(async () => {
  limited = await startLimitedOperator({
    prepare(api) {
      api.put('/api/v1/namespaces', { metadata: { name: 'crowd' } });
      for (let number = 0; number < count; number++)
        api.put(crowd, {
          metadata: { name: `pod-${number}`, labels: { [`l${number}`]: 'x'.repeat(10_000) } },
          spec: { containers: [{ name: 'app', image: 'app:1' }] },
        });
    },
  });
});
test.after(() => limited?.stop());

interface Admission {
  readonly allowed: boolean;
  readonly patch?: string;
}

async function reviewed(pod: object): Promise<Admission> {
  const { status, text } = await limited.review(JSON.stringify(reviewOf(pod, { namespace: 'crowd' })));
  assert.is(status, 200, text);
  return (JSON.parse(text) as { readonly response: Admission }).response;
}

async function marks(): Promise<number> {
  const { text } = await http(`http://${limited.operator.started['health']}/metrics`);
  return Number(/^svc_cluster_objects_too_large\{resource="pods"\} (\d+)$/m.exec(text)?.[1]);
}

test('bounds the marks', async () => {
  const found = await marks();
  assert.ok(found > 500 && found < 3_000, `${found}`);
  assert.is(limited.killed(), 0);
});

test('protects by a ServiceConfig there of which nothing is kept, and labels the namespace for it', async () => {
  limited.api.put(configs, { metadata: { name: 'late' }, spec: config });
  await waitFor('the label of the namespace', () => {
    const { metadata } = limited.api.get('/api/v1/namespaces/crowd') ?? {};
    return Object.hasOwn(metadata?.['labels'] ?? {}, 'svc/protected');
  });
  const { allowed, patch } = await reviewed(usualPod);
  assert.ok(allowed && patch !== undefined);
  assert.is(limited.killed(), 0);
});

test.run();
