import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type KubeObject, keyOf, maxObjectParts } from '../../../src/cluster/kube/client.ts';
import { bytesOf, KeptRoom } from '../../../src/cluster/kube/kept-room.ts';
import {
  markingOfNamespaces,
  markingOfPods,
  markingOfPolicies,
  markingOfSecretMappings,
  markingOfServiceConfigs,
  markingOfWorkloads,
} from '../../../src/cluster/kube/marks.ts';
import type { Keeping } from '../../../src/cluster/kube/object-keeper.ts';
import { createStore } from '../../../src/cluster/kube/object-store.ts';
import {
  projectNamespace,
  projectPod,
  projectPolicy,
  projectSecretMapping,
  projectServiceConfig,
  projectWorkload,
} from '../../../src/cluster/kube/project-objects.ts';
import { outlineOfObject, readJson } from '../../../src/cluster/kube/read-object.ts';
import { type Reflector, reflect } from '../../../src/cluster/kube/reflect.ts';
import { type FakeKube, startFakeKube } from '../../support/fake-kube.ts';
import { quietLog } from '../../support/quiet-log.ts';
import { waitFor } from '../../support/wait-for.ts';

interface Context {
  kube: FakeKube;
  stop: AbortController;
  reflectors: Reflector<unknown>[];
}

export const slow = true;

const test = suite<Context>('objects that are too large to be built');

test.before.each(async (context) => {
  context.kube = await startFakeKube();
  context.stop = new AbortController();
  context.reflectors = [];
});

test.after.each(async ({ kube, stop, reflectors }) => {
  stop.abort();
  await Promise.all(reflectors.map(({ closed }) => closed));
  await kube.stop();
});

const tooMany = (count = maxObjectParts): string[] => Array(count).fill('');
const podWith = (args: readonly string[]) => ({ spec: { containers: [{ name: 'app', args }] } });
const large = podWith(tooMany());

interface PodObject extends KubeObject {
  readonly spec?: { readonly containers: readonly { readonly args: readonly string[] }[] };
}

const argsOf = ({ spec, metadata }: PodObject): string =>
  `${metadata.name}: ${spec?.containers[0]?.args.length ?? 'unknown'}`;

interface Marks {
  count: number;
  readonly told: string[];
}

const keepingIn = (marks: Marks): Keeping<string> => ({
  room: new KeptRoom(1_000_000),
  roomOfMarks: new KeptRoom(1_000_000),
  standIn: (mark) => mark,
  mark: (value) => `mark of ${value}`,
  onMarked: (mark) => marks.told.push(mark),
  onMarks(count) {
    marks.count = count;
  },
});

type Options = Partial<Parameters<typeof reflect<PodObject, string>>[0]>;

function begin({ kube, stop, reflectors }: Context, options: Options): Reflector<string> {
  const timing = { stableMs: 20, initialBackoffMs: 5, maxBackoffMs: 50 };
  const reflector = reflect<PodObject, string>({
    ...{ client: kube.client(), path: '/api/v1/pods', signal: stop.signal, log: quietLog },
    ...{ project: argsOf, timing, ...options },
  });
  reflectors.push(reflector);
  return reflector;
}

const lists = ({ kube }: Context) => kube.requests.filter(({ kind }) => kind === 'list').length;

test('are marked in a list that goes on, and in watches', async (context) => {
  const { kube } = context;
  const marks: Marks = { count: 0, told: [] };
  kube.put('a', {}, podWith(['one']));
  kube.put('b', {}, large);
  kube.put('c', {}, podWith(['one', 'two']));
  const reflector = begin(context, { keeping: keepingIn(marks), timing: { watchMs: 300, stableMs: 20 } });
  await reflector.whenSynced();
  assert.equal([...reflector.values()], ['a: 1', 'mark of b: unknown', 'c: 2']);
  await waitFor('a watch', () => kube.watches > 0);
  kube.put('d', {}, large);
  kube.put('a', {}, large);
  kube.put('b', {}, podWith([]));
  kube.put('e', {}, podWith([]));
  await waitFor('the last one', () => reflector.get('test/e') !== undefined);
  assert.equal([...reflector.values()].sort(), [
    ...['b: 0', 'c: 2', 'e: 0', 'mark of a: unknown', 'mark of d: unknown'],
  ]);
  assert.is(marks.count, 2);
  assert.equal(marks.told, ['mark of b: unknown', 'mark of d: unknown', 'mark of a: unknown']);
  kube.remove('d');
  await waitFor('the removal', () => marks.count === 1);
  assert.is(reflector.get('test/d'), undefined);
  // what was released makes no room for what is too large
  const watches = () => kube.requests.filter(({ kind }) => kind === 'watch').length;
  const before = watches();
  await waitFor('two more watches', () => watches() >= before + 2);
  assert.is(lists(context), 1);
});

test('that are deleted while large are gone', async (context) => {
  const { kube } = context;
  kube.put('a', {}, large);
  const reflector = begin(context, { keeping: keepingIn({ count: 0, told: [] }) });
  await waitFor('a watch', () => kube.watches > 0);
  const object = { metadata: { name: 'a', namespace: 'test', uid: 'u', resourceVersion: '900' }, ...large };
  kube.send(`${JSON.stringify({ type: 'DELETED', object })}\n`);
  await waitFor('the removal', () => reflector.size === 0);
});

test('are kept as their reader says', async (context) => {
  context.kube.put('a', {}, large);
  const reflector = begin(context, { projectOutline: (outline) => `outline of ${keyOf(outline)}` });
  await reflector.whenSynced();
  assert.equal([...reflector.values()], ['outline of test/a']);
});

test('are built for a reader that says nothing of them', async (context) => {
  context.kube.put('a', {}, large);
  const reflector = begin(context, {});
  await reflector.whenSynced();
  assert.equal([...reflector.values()], [`a: ${maxObjectParts}`]);
});

const idOf = (name: string) => ({ name, namespace: 'n', uid: 'u', resourceVersion: '1', generation: 3 });

test('stay marked when they come again, and tell nothing then', () => {
  const events: string[] = [];
  const marks: Marks = { count: 0, told: [] };
  const store = createStore<PodObject, string>(
    argsOf,
    { onAdd: (value) => events.push(`+${value}`), onChange: (value) => events.push(`~${value}`) },
    keepingIn(marks),
  );
  const object = { metadata: idOf('a') };
  store.putOutline(object);
  const list = store.beginList();
  list.putOutline(object);
  list.end();
  assert.equal(
    [store.size, marks, events],
    [...[1, { count: 1, told: ['mark of a: unknown'] }, ['+mark of a: unknown']]],
  );
  assert.not(store.wantsList);
});

const more = Object.fromEntries(tooMany().map((_, index) => [`svc/n${index}`, '']));
const managedFields = [
  { manager: 'svc-operator', operation: 'Apply', fieldsV1: { 'f:data': {} } },
  { manager: 'kubectl', operation: 'Update' },
];
const labels = { ...more, 'svc/protected': 'true', 'svc/proxy': 'true', app: 'a' };
const containers = [{ name: 'app', image: 'app:1', args: tooMany(), env: [{ name: 'A', value: 'b' }] }];
const reference = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'o', controller: true };
const metadata = {
  ...{ ...idOf('a'), labels, managedFields, creationTimestamp: '2026-01-01T00:00:00Z' },
  annotations: { 'svc/vault-role': 'r' },
};
const condition = { type: 'Ready', status: 'False', reason: 'R', message: 'm', lastTransitionTime: 't' };
const status = { observedGeneration: 3, conditions: [condition] };
const template = { metadata: { labels }, spec: { containers } };
const intern = <T>(value: T): T => value;

// biome-ignore lint/suspicious/noExplicitAny: each kind has objects of its own
const kinds: Readonly<Record<string, readonly [object: object, made: (object: any) => unknown]>> = {
  'a pod': [
    { metadata, spec: { containers, nodeName: 'node' }, status: { phase: 'Running' } },
    (object) => markingOfPods.mark(projectPod(object, intern)),
  ],
  'a pod that has ended': [
    { metadata: { ...metadata, deletionTimestamp: 't' }, spec: { containers }, status: { phase: 'Failed' } },
    (object) => markingOfPods.mark(projectPod(object, intern)),
  ],
  'a Deployment': [
    { metadata, spec: { template, selector: { matchLabels: { app: 'a' } } } },
    (object) => markingOfWorkloads.mark(projectWorkload('Deployment', object, intern)),
  ],
  'a ReplicaSet of a Deployment': [
    { metadata: { ...metadata, ownerReferences: [reference] }, spec: { template } },
    (object) => markingOfWorkloads.mark(projectWorkload('ReplicaSet', object, intern)),
  ],
  'a CronJob': [
    { metadata, spec: { jobTemplate: { spec: { template } } } },
    (object) => markingOfWorkloads.mark(projectWorkload('CronJob', object, intern)),
  ],
  'a namespace': [
    { metadata: { ...metadata, labels: { ...labels, 'pod-security.kubernetes.io/enforce': 'baseline' } } },
    ({ metadata: { namespace: _, ...rest } }) => {
      return markingOfNamespaces.mark(projectNamespace({ metadata: rest }));
    },
  ],
  'a ServiceConfig': [
    {
      metadata,
      spec: { selector: { matchLabels: { app: 'a' } }, secretPaths: tooMany() },
      status: { ...status, matchedPods: 2, protectedPods: 1 },
    },
    (object) => markingOfServiceConfigs.mark(projectServiceConfig(object)),
  ],
  'a ServiceConfig with a large selector': [
    { metadata, spec: { selector: { matchLabels: more } } },
    (object) => markingOfServiceConfigs.mark(projectServiceConfig(object)),
  ],
  'a SecretMapping': [
    { metadata, spec: { secrets: tooMany() }, status: { ...status, users: 1, lastValidated: 't' } },
    (object) => markingOfSecretMappings.mark(projectSecretMapping(object)),
  ],
  'a NetworkPolicy': [
    { metadata, spec: { podSelector: {}, policyTypes: ['Egress'], egress: Array(maxObjectParts).fill({}) } },
    (object) => markingOfPolicies.mark(projectPolicy(object)),
  ],
};

for (const [what, [object, made]] of Object.entries(kinds))
  test(`${what} is marked by its outline as it would be whole`, () => {
    const bytes = Buffer.from(JSON.stringify(object));
    const { value, isOutline } = readJson('GET /', bytes, outlineOfObject, 'outlined');
    assert.ok(isOutline);
    assert.ok(JSON.stringify(value).length < 2_000);
    assert.equal(made(value), made(object));
    // nothing but the number of objects bounds what all marks take
    assert.ok(bytesOf(made(object)) < 10_000);
  });

test.run();
