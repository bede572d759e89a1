import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { failureOf } from '../../../../src/cluster/kube/client.ts';
import { NotEvaluated } from '../../../../src/plugins/validate/check.ts';
import { asUnread, missingPermission } from '../../../../src/plugins/validate/cluster/read.ts';

const test = suite('what the API server does not tell');

const refusal = (message: string, status = 403) => failureOf('GET /x', status, JSON.stringify({ message }));
const user = 'User "system:serviceaccount:shop:reader" cannot';

for (const [message, permission] of [
  [`pods is forbidden: ${user} list resource "pods" in API group "" at the cluster scope`, 'list pods'],
  [
    `deployments.apps "svc-operator" is forbidden: ${user} get resource "deployments" in API group "apps" in the namespace "svc-system"`,
    'get deployments.apps in svc-system',
  ],
  [
    `pods "a:9090" is forbidden: ${user} get resource "pods/proxy" in API group "" in the namespace "svc-system"`,
    'get pods/proxy in svc-system',
  ],
  [
    `deployments.apps "a" is forbidden: ${user} get resource "deployments/scale" in API group "apps" in the namespace "b"`,
    'get deployments.apps/scale in b',
  ],
] as const) {
  test(`names ${permission}`, () => {
    assert.is(missingPermission(refusal(message)), permission);
    const told = asUnread(refusal(message));
    assert.instance(told, NotEvaluated);
    assert.is((told as NotEvaluated).permission, permission);
  });
}

test('tells what admission refuses from what authorizers do', () => {
  const error = refusal('pods "a" is forbidden: violates PodSecurity "restricted:latest": privileged');
  assert.is(missingPermission(error), undefined);
  assert.is(asUnread(error), error);
});

test('an API server that fails is not evaluated, what is no error of its own stays', () => {
  const told = asUnread(refusal('etcd is away', 500));
  assert.instance(told, NotEvaluated);
  assert.match((told as NotEvaluated).message, /etcd is away/);
  const other = new TypeError('mine');
  assert.is(asUnread(other), other);
});

test.run();
