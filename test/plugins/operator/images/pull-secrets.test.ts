import { setImmediate as turn } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type KubeClient, KubeError } from '../../../../src/cluster/kube/client.ts';
import { createPullSecrets } from '../../../../src/plugins/operator/images/pull-secrets.ts';
import { podWith, pullSecret } from './rig.ts';

interface Context {
  objects: Record<string, object | Error>;
  asked: string[];
  now: { ms: number };
  read: (
    names: readonly string[],
    account?: string,
    age?: 'anew',
  ) => Promise<{ users: string[]; problems: readonly string[] }>;
}

const test = suite<Context>('pull secrets of a pod');

test.before.each((context) => {
  Object.assign(context, { objects: {}, asked: [], now: { ms: 0 } });
  const request = async ({ path }: { path: string }) => {
    context.asked.push(path);
    const found = context.objects[path.replace('/api/v1/namespaces/shop/', '')];
    if (found instanceof Error) throw found;
    if (found === undefined) throw new KubeError('KUBE_NOT_FOUND', `${path}: 404`);
    return found;
  };
  const secrets = createPullSecrets({
    client: { request } as unknown as KubeClient,
    signal: new AbortController().signal,
    now: () => context.now.ms,
  });
  context.read = async (pullSecrets, account, age) => {
    const found = await secrets.of(podWith({ pullSecrets, ...(account && { account }) }), 'shop', age);
    return { users: found.credentials.map(({ username }) => username), problems: found.problems };
  };
});

test('come first from the pod, then from its account, each once', async ({ objects, read, asked }) => {
  objects['secrets/one'] = pullSecret({ 'r.example': 'alice' });
  objects['secrets/two'] = pullSecret({ 'r.example': 'bob' });
  objects['secrets/three'] = pullSecret({ 'r.example': 'carol' });
  objects['serviceaccounts/default'] = { imagePullSecrets: [{ name: 'two' }, { name: 'three' }, {}] };
  assert.equal(await read(['two', 'one']), { users: ['bob', 'alice', 'carol'], problems: [] });
  assert.is(asked.length, 4);
});

test('of one namespace wait only for a few of another that names very many', async () => {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const request = async ({ path }: { path: string }) => {
    asked.push(path.split('/')[4] ?? '');
    await new Promise<void>((resolve) => answers.push(resolve));
    throw new KubeError('KUBE_NOT_FOUND', path);
  };
  const secrets = createPullSecrets({
    client: { request } as unknown as KubeClient,
    ...{ signal: new AbortController().signal, now: () => 0 },
  });
  const pullSecrets = Array.from({ length: 32 }, (_, index) => `s${index}`);
  for (let index = 0; index < 20; index++)
    void secrets.of(podWith({ pullSecrets, account: `a${index}` }), 'hostile');
  await turn();
  const found = secrets.of(podWith({ pullSecrets: ['mine'] }), 'victim');
  let done = false;
  void found.then(() => {
    done = true;
  });
  while (!done) {
    answers.shift()?.();
    await turn();
  }
  assert.ok(asked.filter((namespace) => namespace === 'hostile').length <= 6, asked.join());
});

test('may be of the older kind', async ({ objects, read }) => {
  const data = {
    '.dockercfg': Buffer.from('{"r.example":{"username":"u","password":"p"}}').toString('base64'),
  };
  objects['secrets/old'] = { type: 'kubernetes.io/dockercfg', data };
  objects['secrets/mixed'] = { type: 'kubernetes.io/dockerconfigjson', data };
  objects['secrets/other'] = { type: 'Opaque', data };
  objects['secrets/empty'] = { type: 'kubernetes.io/dockercfg' };
  const { users, problems } = await read(['old', 'mixed', 'other', 'empty']);
  assert.equal(users, ['u']);
  assert.equal(
    problems,
    ['mixed', 'other', 'empty'].map(
      (name) => `pull secret ${name} cannot be used: it is not of a pull secret type`,
    ),
  );
});

test('that cannot be read are said to be so, and tried again', async ({ objects, read }) => {
  objects['secrets/denied'] = new KubeError('KUBE_DENIED', 'no');
  assert.equal((await read(['denied', 'gone'])).problems, [
    'pull secret denied could not be read',
    'pull secret gone does not exist',
  ]);
  objects['secrets/gone'] = pullSecret({ 'r.example': 'alice' });
  assert.equal((await read(['gone'])).users, ['alice']);
});

test('are kept for a minute, unless they are wanted anew', async ({ objects, read, asked, now }) => {
  objects['secrets/one'] = pullSecret({ 'r.example': 'alice' });
  objects['serviceaccounts/shopkeeper'] = {};
  await Promise.all([read(['one'], 'shopkeeper'), read(['one'], 'shopkeeper')]);
  assert.is(asked.length, 2);
  objects['secrets/one'] = pullSecret({ 'r.example': 'bob' });
  now.ms = 59_000;
  assert.equal((await read(['one'], 'shopkeeper')).users, ['alice']);
  assert.equal((await read(['one'], 'shopkeeper', 'anew')).users, ['bob']);
  objects['secrets/one'] = pullSecret({ 'r.example': 'carol' });
  now.ms = 120_000;
  assert.equal((await read(['one'], 'shopkeeper')).users, ['carol']);
});

test('are looked for in the namespace of the pod, whatever their name', async ({ read, asked }) => {
  await read(['../../../kube-system/secrets/x']);
  assert.ok(asked.includes('/api/v1/namespaces/shop/secrets/..%2F..%2F..%2Fkube-system%2Fsecrets%2Fx'));
});

test.run();
