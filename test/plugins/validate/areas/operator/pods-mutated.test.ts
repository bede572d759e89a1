import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { configuredPodMutated } from '../../../../../src/plugins/validate/areas/operator/pods-mutated.ts';
import { runCheck } from '../../../../../src/plugins/validate/run-check.ts';
import type { FakeObject } from '../../cluster/fake-cluster.ts';
import { added, admitting, fixtureOf } from '../../cluster/fixture-of.ts';
import { healthyCluster } from '../../cluster/healthy-cluster.ts';
import { contextOf } from '../../test-context.ts';

const test = suite('pods that ServiceConfigs select');

const selecting = (app: string): FakeObject => ({
  ...{ apiVersion: 'svc.io/v1alpha1', kind: 'ServiceConfig', metadata: { name: app, namespace: 'shop' } },
  spec: { selector: { matchLabels: { app } } },
});
const { admit = (pod) => pod } = healthyCluster();
const quota = 'pods "svc-validate-x" is forbidden: exceeded quota: compute';

/** The cluster's own ServiceConfig selects `web`, the others `api` and `cron`. */
const verdict = (admitted: NonNullable<ReturnType<typeof healthyCluster>['admit']>) =>
  runCheck(
    configuredPodMutated,
    contextOf(fixtureOf(added(selecting('api'), selecting('cron')), admitting(admitted))()),
  );
const appOf = (pod: FakeObject): unknown => (pod.metadata['labels'] as Record<string, unknown>)['app'];

test('a namespace that refuses its pod for another reason is told, the others are tried all the same', async () => {
  const tried: unknown[] = [];
  const result = await verdict((pod) => {
    tried.push(appOf(pod));
    return appOf(pod) === 'api' ? quota : admit(pod);
  });
  assert.equal(tried.sort(), ['api', 'cron', 'web']);
  assert.is(result.state, 'not-evaluated');
  assert.match(JSON.stringify(result), /1 of 3 ServiceConfigs could not be tried: .*exceeded quota/);
});

test('it hides no pod that is left bare in another one', async () => {
  const result = await verdict((pod) => (appOf(pod) === 'api' ? quota : pod));
  assert.is(result.state, 'failed');
  if (result.state !== 'failed') return;
  assert.equal(
    result.failures.map(({ subject }) => subject),
    ['shop/web', 'shop/cron'],
  );
  assert.match(result.unknown?.reason ?? '', /^1 of 3 /);
});

test('one that only the admission policy refuses is not left unprotected', async () => {
  const refused =
    "pods is forbidden: ValidatingAdmissionPolicy 'svc-operator' with binding 'svc-operator' denied";
  assert.is((await verdict((pod) => (appOf(pod) === 'web' ? refused : admit(pod)))).state, 'passed');
});

test('the permission that is missing is named', async () => {
  const forbidden =
    'pods is forbidden: User "me" cannot create resource "pods" in API group "" in the namespace "shop"';
  const result = await verdict((pod) => (appOf(pod) === 'web' ? admit(pod) : forbidden));
  assert.is(result.state === 'not-evaluated' && result.permission, 'create pods in shop');
});

test.run();
