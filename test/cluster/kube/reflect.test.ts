import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type KubeObject, keyOf } from '../../../src/cluster/kube/client.ts';
import { type Reflector, type ReflectTiming, reflect } from '../../../src/cluster/kube/reflect.ts';
import type { LogFields, Logger } from '../../../src/runtime/logging/logger.ts';
import { type FakeKube, startFakeKube, status } from '../../support/fake-kube.ts';
import { waitFor } from '../../support/wait-for.ts';

export const idle = true;

interface Rig {
  kube: FakeKube;
  stop: AbortController;
  events: string[];
  warnings: LogFields[];
  reflector: Reflector<KubeObject['metadata']>;
}

const test = suite<Rig>('reflector');
const quick = { stableMs: 20, initialBackoffMs: 5, maxBackoffMs: 50 };

test.before.each(async (rig) => {
  rig.kube = await startFakeKube();
  rig.stop = new AbortController();
  rig.events = [];
  rig.warnings = [];
});

test.after.each(async ({ kube, stop, reflector }) => {
  stop.abort();
  await reflector?.closed;
  await kube.stop();
});

function recorder(lines: LogFields[]): Logger {
  const note = (event: string, fields: LogFields = {}) => void lines.push({ event, ...fields });
  return { debug: () => {}, info: () => {}, warn: note, error: note, child: () => recorder(lines) };
}

function begin(rig: Rig, timing: Partial<ReflectTiming> = {}) {
  const { kube, stop, events, warnings } = rig;
  rig.reflector = reflect<KubeObject, KubeObject['metadata']>({
    ...{ client: kube.client(), path: '/api/v1/pods', signal: stop.signal, log: recorder(warnings) },
    ...{ fieldSelector: 'spec.nodeName=here', labelSelector: 'a=b', timing: { ...quick, ...timing } },
    project: ({ metadata }) => metadata,
    onAdd: ({ name }) => events.push(`+${name}`),
    onChange: ({ name }) => events.push(`~${name}`),
    onDelete: ({ name }) => events.push(`-${name}`),
    onListed: () => events.push('listed'),
    onConnected: (connected) => events.push(connected ? 'connected' : 'lost'),
  });
  return rig.reflector;
}

const watching = ({ kube }: Rig) => waitFor('a watch', () => kube.watches > 0);
const told = ({ events }: Rig, event: string, count = 1) =>
  waitFor(event, () => events.filter((each) => each === event).length >= count);
const asked = ({ kube }: Rig, kind: string) => kube.requests.filter((request) => request.kind === kind);

test('lists page by page and then follows', async (rig) => {
  rig.kube.pageSize = 2;
  for (const name of ['a', 'b', 'c', 'd', 'e']) rig.kube.put(name);
  const reflector = begin(rig);
  assert.is(reflector.synced, false);
  await reflector.whenSynced();
  assert.is(reflector.synced, true);
  assert.is(reflector.size, 5);
  await watching(rig);
  rig.kube.put('f');
  rig.kube.put('a');
  rig.kube.remove('b');
  await told(rig, '-b');
  assert.equal(rig.events, ['+a', '+b', '+c', '+d', '+e', 'listed', 'connected', '+f', '~a', '-b']);
  assert.is(reflector.get('test/b'), undefined);
  assert.is(reflector.get('test/f')?.name, 'f');
  const lists = asked(rig, 'list').map(({ query }) => query);
  assert.equal(lists, [
    { fieldSelector: 'spec.nodeName=here', labelSelector: 'a=b', limit: '500' },
    { fieldSelector: 'spec.nodeName=here', labelSelector: 'a=b', limit: '500', continue: '2' },
    { fieldSelector: 'spec.nodeName=here', labelSelector: 'a=b', limit: '500', continue: '4' },
  ]);
  const [watch] = asked(rig, 'watch');
  assert.is(watch?.query['resourceVersion'], '105');
  assert.is(watch?.query['allowWatchBookmarks'], 'true');
  assert.is(watch?.query['labelSelector'], 'a=b');
  assert.equal(rig.warnings, []);
});

test('goes on where it was when a watch ends in time, without a list and without a word', async (rig) => {
  rig.kube.put('a');
  begin(rig, { watchMs: 400 });
  await waitFor('a third watch', () => asked(rig, 'watch').length >= 3);
  rig.kube.put('b');
  await told(rig, '+b');
  assert.is(asked(rig, 'list').length, 1);
  assert.equal(rig.events, ['+a', 'listed', 'connected', '+b']);
  assert.equal(rig.warnings, []);
});

test('spreads the ends of watches', async (rig) => {
  begin(rig, { watchMs: 100_000, stableMs: 0, maxBackoffMs: 5 });
  for (let count = 1; count <= 12; count++) {
    await waitFor('another watch', () => asked(rig, 'watch').length >= count && rig.kube.watches > 0);
    rig.kube.cut('fin');
  }
  const seconds = asked(rig, 'watch').map(({ query }) => Number(query['timeoutSeconds']));
  assert.ok(
    seconds.every((each) => each >= 100 && each <= 200),
    String(seconds),
  );
  assert.ok(new Set(seconds).size > 3, String(seconds));
});

for (const manner of ['fin', 'reset'] as const) {
  test(`misses nothing when its connections are cut (${manner}) again and again`, async (rig) => {
    const reflector = begin(rig);
    for (let round = 0; round < 8; round++) {
      await watching(rig);
      rig.kube.cut(manner);
      rig.kube.put(`pod-${round}`);
      if (round > 0) rig.kube.remove(`pod-${round - 1}`);
    }
    await waitFor('all of it', () => reflector.size === 1 && reflector.get('test/pod-7'));
    const names = Array.from({ length: 8 }, (_, round) => `pod-${round}`);
    assert.equal(
      rig.events.filter((event) => event.startsWith('+')),
      names.map((name) => `+${name}`),
    );
    assert.equal(
      rig.events.filter((event) => event.startsWith('-')),
      names.slice(0, 7).map((name) => `-${name}`),
    );
    assert.is(asked(rig, 'list').length, 1);
  });
}

test('lists again after 410, and finds out what was deleted meanwhile', async (rig) => {
  for (const name of ['a', 'b']) rig.kube.put(name);
  begin(rig);
  await watching(rig);
  rig.kube.quietly(() => {
    rig.kube.remove('a');
    rig.kube.put('c');
  });
  rig.kube.compact();
  rig.kube.put('d');
  rig.kube.compact();
  rig.kube.cut('reset');
  await told(rig, '-a');
  await told(rig, '+c');
  assert.is(asked(rig, 'list').length, 2);
  assert.equal([...rig.reflector.values()].map(({ name }) => name).sort(), ['b', 'c', 'd']);
});

test('lists again after a 410 within a watch', async (rig) => {
  rig.kube.put('a');
  begin(rig);
  await watching(rig);
  rig.kube.quietly(() => rig.kube.remove('a'));
  rig.kube.send(
    '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"old"}}\n',
  );
  await told(rig, '-a');
  assert.is(rig.warnings[0]?.['code'], 'KUBE_GONE');
});

test('starts over when the place within a list is lost', async (rig) => {
  rig.kube.pageSize = 1;
  for (const name of ['a', 'b', 'c']) rig.kube.put(name);
  rig.kube.answer('list', (request, response) => {
    assert.is(request.query['continue'], undefined);
    const [metadata, items] = [{ resourceVersion: '1', continue: 'lost' }, []];
    response.end(JSON.stringify({ metadata, items }));
  });
  rig.kube.answer('list', status(410));
  await begin(rig).whenSynced();
  assert.is(rig.reflector.size, 3);
});

test('goes on from a bookmark', async (rig) => {
  begin(rig);
  await watching(rig);
  rig.kube.quietly(() => rig.kube.put('of another node'));
  rig.kube.bookmark();
  rig.kube.compact();
  rig.kube.cut('fin');
  await waitFor('the next watch', () => asked(rig, 'watch').length === 2);
  assert.is(asked(rig, 'watch')[1]?.query['resourceVersion'], '101');
  await watching(rig);
  assert.is(asked(rig, 'list').length, 1);
});

test('gives up a watch that has fallen silent', async (rig) => {
  rig.kube.put('a');
  rig.kube.answer('watch', (_request, response) => {
    response.writeHead(200).flushHeaders();
  });
  begin(rig, { watchMs: 50, slackMs: 20 });
  await waitFor('a second watch', () => asked(rig, 'watch').length >= 2);
  await watching(rig);
  rig.kube.put('b');
  await told(rig, '+b');
  assert.match(String(rig.warnings[0]?.error), /not ended in time/);
  assert.is(asked(rig, 'list').length, 1);
});

test('keeps what it has while the API server is away, and says that it is', async (rig) => {
  rig.kube.put('a');
  const reflector = begin(rig);
  await watching(rig);
  rig.kube.answer('watch', status(503), 5);
  rig.kube.answer('watch', (_request, response) => void response.destroy(), 2);
  rig.kube.cut('reset');
  await told(rig, 'lost');
  assert.is(reflector.connected, false);
  assert.is(reflector.size, 1);
  await told(rig, 'connected', 2);
  assert.is(asked(rig, 'list').length, 1);
  assert.equal(rig.events, ['+a', 'listed', 'connected', 'lost', 'connected']);
  assert.is(rig.warnings.length, 8);
});

for (const [what, line] of [
  ['no JSON', '{"type":\n'],
  ['an unknown type', '{"type":"EXPLODED","object":{}}\n'],
  ['an object without metadata', '{"type":"ADDED","object":{"kind":"Pod"}}\n'],
  ['null', 'null\n'],
  ['an error without a code', '{"type":"ERROR","object":null}\n'],
  ['a line without an end', 'x'.repeat(11 * 1024 * 1024)],
] as const) {
  test(`survives garbage within a watch: ${what}`, async (rig) => {
    rig.kube.put('a');
    begin(rig);
    await watching(rig);
    rig.kube.send(line);
    await told(rig, 'lost');
    await told(rig, 'connected', 2);
    rig.kube.put('b');
    await told(rig, '+b');
    assert.equal(
      [...rig.reflector.values()].map(({ name }) => name),
      ['a', 'b'],
    );
  });
}

for (const [what, body] of [
  ['no JSON', 'surprise'],
  ['no list', '{"kind":"Pod"}'],
  ['items that are none', '{"metadata":{"resourceVersion":"7"},"items":[{"metadata":{}}]}'],
  ['null', 'null'],
] as const) {
  test(`survives garbage for a list: ${what}`, async (rig) => {
    rig.kube.put('a');
    rig.kube.answer('list', (_request, response) => void response.end(body), 2);
    await begin(rig).whenSynced();
    assert.equal(rig.events.slice(0, 2), ['+a', 'listed']);
    assert.is(rig.warnings.length, 2);
  });
}

test('does not hurry when each watch ends as soon as it has begun', async (rig) => {
  rig.kube.answer('watch', (_request, response) => void response.writeHead(200).end(), 4);
  begin(rig, { stableMs: 60_000 });
  await waitFor('the fifth watch', () => asked(rig, 'watch').length === 5);
  assert.equal(new Set(rig.warnings.map(({ error }) => error)).size, 1);
  assert.is(rig.warnings.length, 4);
});

test('waits as long as the API server asks, up to a bound', async (rig) => {
  rig.kube.answer('list', status(429, 'slow down', { 'retry-after': '3600' }));
  await begin(rig).whenSynced();
  assert.is(rig.warnings[0]?.['retryInMs'], quick.maxBackoffMs);
});

test('goes on when a handler throws', async (rig) => {
  rig.kube.put('a');
  rig.reflector = reflect<KubeObject, string>({
    ...{
      client: rig.kube.client(),
      path: '/api/v1/pods',
      signal: rig.stop.signal,
      log: recorder(rig.warnings),
    },
    project: keyOf,
    onAdd() {
      throw new Error('mine');
    },
  }) as never;
  await rig.reflector.whenSynced();
  await watching(rig);
  assert.is(rig.reflector.size, 1);
  assert.equal(
    rig.warnings.map(({ event, error }) => `${event} ${error}`),
    ['kube.handler.failed mine'],
  );
});

test('ends at once when told to, within a pause too', async (rig) => {
  rig.kube.answer('list', status(503), 100);
  begin(rig, { initialBackoffMs: 60_000, maxBackoffMs: 60_000 });
  await waitFor('a failure', () => rig.warnings.length > 0);
  rig.stop.abort();
  await rig.reflector.closed;
  await rig.reflector.whenSynced();
  assert.is(rig.reflector.synced, false);
});

test('asks for metadata alone where that is enough', async (rig) => {
  rig.reflector = reflect<KubeObject, string>({
    ...{ client: rig.kube.client(), path: '/api/v1/pods', signal: rig.stop.signal, log: recorder([]) },
    ...{ project: keyOf, metadataOnly: true },
  }) as never;
  await watching(rig);
  const accepted = rig.kube.requests.map(({ headers }) => headers.accept);
  assert.equal(accepted, [
    'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
    'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  ]);
});

test.run();
