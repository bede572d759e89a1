import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Container, PodSpec } from '../../../../src/cluster/kube/pod.ts';
import { appImage, type PodCase, plan as usualPlan } from '../../../cluster/injection/mutate/pods/case.ts';
import { podCases } from '../../../cluster/injection/mutate/pods/index.ts';
import { type Registry, startRegistry } from '../../../support/registry.ts';
import { digestOf, makeApplicationRoot, type Told, toldIn } from './application.ts';
import type { PodRun } from './kubelet/kubelet.ts';
import { asked, run } from './pods.ts';
import { startWorld, type World } from './world.ts';

export const timeout = 600_000;
const test = suite('pods of the table, run for real');
const SECRET = 'table-of-pods-secret';
/** What pods of the table refer to. */
const odd = 'a,b\\c$(X)';

let world: World;
let registry: Registry;
let namespace: string;
const workers: Promise<void>[] = [];

test.before(async () => {
  registry = await startRegistry();
  // no init container that copies the folder for each of them: half of the processor time of all pods
  world = await startWorld({ values: { operator: { wrapperDelivery: 'image' } } });
  await world.kv.put('app', { PASSWORD: SECRET });
  namespace = await world.namespace();
  const create = (plural: string, name: string, members: object) =>
    world.kube.must('POST', `/api/v1/namespaces/${namespace}/${plural}`, { metadata: { name }, ...members });
  await create('secrets', 'db', { stringData: { password: odd } });
  await create('secrets', 's', { stringData: { password: odd } });
  await create('configmaps', 'settings', { data: { FROM_MAP: 'one,two' } });
  const waiting = runnable.map((one, at) => [one, results[at]?.resolve ?? (() => undefined)] as const);
  for (let worker = 0; worker < 3; worker++) workers.push(runThem(waiting));
});

test.after(async () => {
  await Promise.all(workers);
  await world?.stop();
  await registry?.stop();
});

const runnable = podCases.filter(
  (one) => one.runs !== undefined && one.denied === undefined && annotationsFor(one) !== undefined,
);

/** What asks for the plan of a case; undefined where annotations cannot. */
function annotationsFor({ plan = {} }: PodCase): Record<string, string> | undefined {
  const { command, containers, ...more } = plan;
  if (Object.keys(more).length > 0) return undefined;
  return {
    ...asked,
    'svc/vault-role': usualPlan.vault.role,
    ...(command && { 'svc/command': JSON.stringify(command) }),
    ...(containers && { 'svc/containers': containers.join(',') }),
  };
}

/** Where a command is found that a container starts. */
function programOf(word: string, workingDir = '/'): string {
  if (word.startsWith('/')) return word;
  return word.includes('/') ? join(workingDir, word) : join('/bin', word);
}

const containersOf = ({ initContainers = [], containers }: PodSpec) => [...initContainers, ...containers];

/** With our secrets server in the place of the table's. */
const atOurs = <T>(value: T): T =>
  JSON.parse(JSON.stringify(value).replaceAll(usualPlan.vault.address, world.bao.url));

/** The images of a case, in the registry and on the node, under a name of their own. */
async function publish({ pod, images = {}, runs = {} }: PodCase, name: string): Promise<PodSpec> {
  const programs = containersOf(pod.spec).map(({ name: container, workingDir }) =>
    programOf(runs[container]?.[0] ?? '/bin/app', workingDir),
  );
  const root = world.makeRoot((path) => makeApplicationRoot(path, world.busybox, programs));
  const reference = `${registry.host}/${name}:1`;
  const { entrypoint, cmd } = images[appImage] ?? {};
  await registry.push(name, '1', { ...(entrypoint && { entrypoint }), ...(cmd && { cmd }) });
  world.images.set(reference, { root, ...(entrypoint && { entrypoint }), ...(cmd && { cmd }) });
  const moved = (container: Container) => ({ ...container, image: reference });
  const { initContainers, containers, ...spec } = pod.spec;
  return atOurs({
    ...spec,
    ...(initContainers && { initContainers: initContainers.map(moved) }),
    containers: containers.map(moved),
  });
}

async function toldBy(pod: PodRun, name: string): Promise<Told> {
  const container = pod.container(name);
  const { code } = await container.exited;
  assert.is(code, 0, container.output());
  return toldIn(container.output());
}

/** Runs the pod of a case to its end. @returns what its containers told, by name */
async function tell(one: PodCase, name: string): Promise<Readonly<Record<string, Told>>> {
  const spec = await publish(one, name);
  const pod = await run(world, {
    ...{ name, namespace, spec: { ...spec, restartPolicy: 'Never' } },
    annotations: annotationsFor(one) ?? {},
  });
  address.set(name, pod.pod.status?.podIP ?? '');
  try {
    const names = Object.keys(one.runs ?? {});
    return Object.fromEntries(
      await Promise.all(names.map(async (container) => [container, await toldBy(pod, container)] as const)),
    );
  } finally {
    await pod.stop();
  }
}

/** Several at a time: each waits for the API server and for its key server. */
async function runThem(
  waiting: (readonly [PodCase, (told: ReturnType<typeof tell>) => void])[],
): Promise<void> {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const [one, report] = next;
    const told = tell(one, `case-${runnable.indexOf(one)}`);
    report(told);
    await told.catch(() => undefined);
  }
}

const address = new Map<string, string>();
const results = runnable.map(() => Promise.withResolvers<Readonly<Record<string, Told>>>());
for (const { promise } of results) promise.catch(() => undefined);

for (const [at, one] of runnable.entries()) {
  test(one.name, async () => {
    const told = await results[at]?.promise;
    for (const [container, words] of Object.entries(one.runs ?? {})) {
      const [first = '', ...args] = atOurs(words).map((word) =>
        word === '<status.podIP>' ? address.get(`case-${at}`) : word,
      );
      assert.is(told?.[container]?.digest, digestOf(SECRET), container);
      assert.equal(told?.[container]?.argv, [first.includes('/') ? first : join('/bin', first), ...args]);
    }
  });
}

test('the table has pods of every kind of command line', () => {
  assert.ok(runnable.length >= 25, `${runnable.length} pods`);
});

test.run();
