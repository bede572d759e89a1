import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type KubeClient, KubeError } from '../../../src/cluster/kube/client.ts';
import { followServerVersion, isAtLeast, readVersion } from '../../../src/cluster/kube/server-version.ts';
import { quietLog as log } from '../../support/quiet-log.ts';
import { waitFor } from '../../support/wait-for.ts';

const test = suite('version of the API server');

for (const [answer, version] of [
  [
    { major: '1', minor: '37' },
    { major: 1, minor: 37 },
  ],
  [
    { major: '1', minor: '28+' },
    { major: 1, minor: 28 },
  ],
  [{ major: '1' }, undefined],
  [{ major: 'x', minor: 'y' }, undefined],
  ['', undefined],
  [null, undefined],
] as const) {
  test(`is read from ${JSON.stringify(answer)}`, () => assert.equal(readVersion(answer), version));
}

test('is compared by both numbers', () => {
  assert.is(isAtLeast({ major: 1, minor: 29 }, 1, 29), true);
  assert.is(isAtLeast({ major: 1, minor: 28 }, 1, 29), false);
  assert.is(isAtLeast({ major: 2, minor: 0 }, 1, 29), true);
  assert.is(isAtLeast(undefined, 1, 29), false);
});

test('is asked for until it is told, and follows an upgrade', async () => {
  const answers = [
    () => Promise.reject(new KubeError('KUBE_UNAVAILABLE', 'away')),
    () => Promise.resolve({ major: '1', minor: '28' }),
    () => Promise.resolve({ major: '1', minor: '29' }),
    () => Promise.reject(new KubeError('KUBE_UNAVAILABLE', 'away')),
  ];
  const controller = new AbortController();
  const request = () => (answers.length > 1 ? answers.shift() : answers[0])?.();
  const client = { request } as unknown as KubeClient;
  const followed = followServerVersion(client, log, controller.signal, 5);
  await followed.known;
  assert.ok(followed.current);
  await waitFor('the upgrade', () => followed.current?.minor === 29);
  await waitFor('the last answer', () => answers.length === 1);
  assert.equal(followed.current, { major: 1, minor: 29 });
  controller.abort();
  await followed.closed;
});

test('is not waited for any more by one that ends', async () => {
  const controller = new AbortController();
  const request = () => Promise.reject(new KubeError('KUBE_UNAVAILABLE', 'away'));
  const followed = followServerVersion({ request } as unknown as KubeClient, log, controller.signal, 5);
  controller.abort();
  await followed.known;
  assert.is(followed.current, undefined);
});

test.run();
