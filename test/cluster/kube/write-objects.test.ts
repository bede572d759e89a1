import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { apply, applyStatus, KubeError, type KubeRequest } from '../../../src/cluster/kube/client.ts';
import { createEventRecorder, type EventNote } from '../../../src/cluster/kube/event-recorder.ts';
import { fakeClient } from '../../support/fake-client.ts';
import { startFakeKube } from '../../support/fake-kube.ts';
import { quietLog } from '../../support/quiet-log.ts';

const test = suite('writing objects');

/** Answers each request by the next of its answers. */
function clientOf(...answers: readonly (unknown | KubeError)[]) {
  const requests: KubeRequest[] = [];
  const left = [...answers];
  const client = fakeClient(async <T>(request: KubeRequest) => {
    requests.push(request);
    const answer = left.shift() ?? {};
    if (answer instanceof KubeError) throw answer;
    return answer as T;
  });
  return { client, requests };
}

const conflict = new KubeError('KUBE_CONFLICT', 'somebody was faster', { status: 409 });

test('applies under the name of the operator, with force only where that is said', async () => {
  const { client, requests } = clientOf();
  await apply(client, { path: '/x', object: { a: 1 } });
  await apply(client, { path: '/x', object: { a: 1 }, force: true });
  await applyStatus(client, { path: '/x', object: { a: 1 } });
  assert.equal(
    requests.map(({ method, path, query }) => [method, path, query]),
    [
      ['PATCH', '/x', { fieldManager: 'svc-operator', force: false }],
      ['PATCH', '/x', { fieldManager: 'svc-operator', force: true }],
      ['PATCH', '/x/status', { fieldManager: 'svc-operator', force: true }],
    ],
  );
  assert.ok(requests.every(({ contentType }) => contentType === 'application/apply-patch+yaml'));
});

test('does not read what it has applied, which others may have made large', async () => {
  const kube = await startFakeKube();
  const answer = JSON.stringify({ data: Array(300_000).fill('') });
  kube.answer('get', (_request, response) => void response.end(answer), 2);
  const client = kube.client();
  await apply(client, { path: '/x', object: { a: 1 } });
  const error = await client.request({ path: '/x' }).catch((cause: KubeError) => cause);
  assert.is((error as KubeError).code, 'KUBE_TOO_LARGE');
  client.close();
  await kube.stop();
});

const event = (note: string, name = 'thing'): EventNote => ({
  regarding: { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name, uid: 'u' },
  ...{ type: 'Warning', reason: 'Foreign', action: 'Write', note },
});

test('tells an event once in ten minutes', async () => {
  let now = 0;
  const { client, requests } = clientOf();
  const { signal } = new AbortController();
  const recorder = createEventRecorder({
    ...{ client, log: quietLog, signal, controller: 'svc-operator', instance: 'one', now: () => now },
  });
  recorder.record(event('a'));
  recorder.record(event('a'));
  recorder.record(event('b'));
  recorder.record(event('a', 'other'));
  await recorder.settled();
  assert.is(requests.length, 3);
  now = 10 * 60_000;
  recorder.record(event('a'));
  await recorder.settled();
  assert.is(requests.length, 4);
  assert.is(requests[0]?.path, '/apis/events.k8s.io/v1/namespaces/a/events');
});

test('an event that is lost is told the next time, and a flood of them is cut', async () => {
  const { client, requests } = clientOf(conflict);
  const { signal } = new AbortController();
  const recorder = createEventRecorder({
    ...{ client, log: quietLog, signal, controller: 'svc-operator', instance: 'one' },
  });
  for (let attempt = 0; attempt < 3; attempt++) {
    recorder.record(event('lost first'));
    await recorder.settled();
  }
  assert.is(requests.length, 2);
  for (let number = 0; number < 1_000; number++) recorder.record(event(`note ${number}`));
  await recorder.settled();
  assert.ok(requests.length <= 2 + 16, `${requests.length} at once`);
});

test.run();
