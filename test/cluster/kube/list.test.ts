import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { KubeClient, KubeError, KubeObject } from '../../../src/cluster/kube/client.ts';
import { collectAll, listAll } from '../../../src/cluster/kube/list.ts';
import { type FakeKube, type Responder, startFakeKube, status } from '../../support/fake-kube.ts';

interface Context {
  kube: FakeKube;
  client: KubeClient;
}

const test = suite<Context>('lists');

test.before.each(async (context) => {
  context.kube = await startFakeKube();
  context.client = context.kube.client();
});

test.after.each(async ({ kube, client }) => {
  client.close();
  await kube.stop();
});

const { signal } = new AbortController();
const pods = { path: '/api/v1/pods' };
const item = (name: string) => `{"metadata":{"name":"${name}","uid":"u","resourceVersion":"1"}}`;

/** The names that were given, and the version or the error. */
async function listed({ client }: Context, onObject: (object: KubeObject) => void = () => {}) {
  const names: string[] = [];
  const handle = (object: KubeObject) => {
    names.push(object.metadata.name);
    onObject(object);
  };
  const outcome = await listAll(client, pods, handle, signal).catch((error: KubeError) => error);
  return { names, outcome };
}

const answering = ({ kube }: Context, ...parts: readonly string[]) =>
  kube.answer('list', async (_request, response) => {
    for (const part of parts) {
      response.write(part);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    response.end();
  });

test('give objects before the answer has ended', async (context) => {
  const first = Promise.withResolvers<void>();
  context.kube.answer('list', async (_request, response) => {
    response.write(`{"items":[${item('a')},${item('b').slice(0, 9)}`);
    await first.promise;
    response.end(`${item('b').slice(9)}],"metadata":{"resourceVersion":"7"}}`);
  });
  const { names, outcome } = await listed(context, () => first.resolve());
  assert.equal([names, outcome], [['a', 'b'], '7']);
});

for (const items of ['null', '[]', '[ ]']) {
  test(`have no objects where items are ${items}`, async (context) => {
    answering(context, `{"metadata":{"resourceVersion":"7"},"items":${items}}`);
    assert.equal(await listed(context), { names: [], outcome: '7' });
  });
}

test('have no objects where there are no items', async (context) => {
  answering(context, '{"metadata":{"resourceVersion":"7"}}');
  assert.equal(await listed(context), { names: [], outcome: '7' });
});

for (const [what, tokenOf] of [
  ['that begins again and again', () => 'same'],
  ['of pages without objects, each with another one to follow', (page: number) => `page-${page}`],
] as const) {
  test(`a list ${what} is an error`, async (context) => {
    let pages = 0;
    const answer: Responder = (_request, response) => {
      pages += 1;
      const next = `"continue":"${tokenOf(pages)}"`;
      response.end(`{"items":[],"metadata":{"resourceVersion":"7",${next}}}`);
    };
    // the last one ends the list, if nobody else does
    context.kube.answer('list', answer, 1_000);
    const { outcome } = await listed(context);
    assert.match((outcome as KubeError).message, /page after page without end/);
  });
}

for (const [what, message, parts] of [
  ['an answer that was cut off', /the answer is not JSON/, [`{"items":[${item('a')},`, '{"metadata":']],
  ['an item that is no JSON', /the answer is not JSON/, [`{"items":[${item('a')},{"metadata":}]}`]],
  ['what is no list', /the answer is not a list/, [`{"items":[${item('a')}],"metadata":{}}`]],
  [
    'an item that is no object',
    /without name, uid or resourceVersion/,
    [`{"items":[${item('a')},{"metadata":{"name":"b"}}],"metadata":{"resourceVersion":"7"}}`],
  ],
  [
    'two lists in one',
    /the answer is not a list/,
    [`{"items":[${item('a')}],"metadata":{"resourceVersion":"7"},"items":[]}`],
  ],
] as const) {
  test(`refuse ${what}; what came before it is true`, async (context) => {
    answering(context, ...parts);
    const { names, outcome } = await listed(context);
    assert.equal(names, ['a']);
    assert.is((outcome as KubeError).code, 'KUBE_PROTOCOL');
    assert.match((outcome as KubeError).message, message);
  });
}

test('take a connection that is lost within the answer for an absence', async (context) => {
  context.kube.answer('list', (_request, response) => {
    response.write(`{"items":[${item('a')},`);
    setTimeout(() => response.destroy(), 20);
  });
  const { names, outcome } = await listed(context);
  assert.equal([names, (outcome as KubeError).code], [['a'], 'KUBE_UNAVAILABLE']);
});

test('leave an error of who is given the objects as it is', async (context) => {
  answering(context, `{"items":[${item('a')},${item('b')}],"metadata":{"resourceVersion":"7"}}`);
  const mine = new TypeError('mine');
  const { names, outcome } = await listed(context, () => {
    throw mine;
  });
  assert.equal(names, ['a']);
  assert.is(outcome, mine);
});

test('begin again where their place was lost, a few times', async ({ kube, client }) => {
  kube.pageSize = 1;
  for (const name of ['a', 'b']) kube.put(name);
  const place: Responder = ({ query }, response) => {
    assert.is(query['continue'], undefined);
    response.end(`{"items":[${item('gone')}],"metadata":{"resourceVersion":"7","continue":"lost"}}`);
  };
  const lose = () => {
    kube.answer('list', place);
    kube.answer('list', status(410));
  };
  const names = () => collectAll(client, pods, ({ metadata }: KubeObject) => metadata.name, signal);
  lose();
  assert.equal(await names(), ['a', 'b']);
  for (let count = 0; count < 3; count++) lose();
  assert.is(await names().catch(({ code }) => code), 'KUBE_GONE');
});

test.run();
