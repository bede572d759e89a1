import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type CgroupProcess, createCgroups, type TestCgroups } from '../../../support/cgroups.ts';
import { type FakeKube, startFakeKube, status } from '../../../support/fake-kube.ts';
import { runCommand } from '../../../support/run-command.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { createFakeGuard, type FakeGuard } from './support/fake-guard.ts';
import { type PodRig, startRig } from './support/rig.ts';

interface Context {
  kube: FakeKube;
  cgroups: TestCgroups;
  folder: TemporaryFolder;
  rigs: PodRig[];
}

const test = suite<Context>('watch of labelled pods');
const uidOf = (digit: string) => `${digit.repeat(8)}-aaaa-4bbb-8ccc-0123456789ab`;
const burstable = 'kubepods.slice/kubepods-burstable.slice';
const folderOf = (digit: string) =>
  `${burstable}/kubepods-burstable-pod${uidOf(digit).replaceAll('-', '_')}.slice`;
const containerOf = (digit: string) => `${folderOf(digit)}/cri-containerd-${digit}.scope`;

test.before.each(async (context) => {
  context.rigs = [];
  context.kube = await startFakeKube();
  context.folder = temporaryFolder('pod-watch');
  context.cgroups = createCgroups();
  context.cgroups.make(burstable);
});

test.after.each(async ({ rigs, kube, folder, cgroups }) => {
  await Promise.all(rigs.map(({ watch }) => watch.close()));
  await kube?.stop();
  await cgroups?.stop();
  await folder?.remove();
});

function environment({ folder, kube }: Context): Record<string, string> {
  const path = join(folder.path, 'kubeconfig');
  const config = {
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'test' },
    clusters: [{ name: 'test', cluster: { server: kube.url, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'test', user: { token: 'secret-token' } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  };
  writeFileSync(path, JSON.stringify(config));
  return { KUBECONFIG: path };
}

async function start(context: Context, guard?: FakeGuard): Promise<PodRig> {
  const cgroupRoot = context.cgroups.root;
  const rig = await startRig({ cgroupRoot, env: environment(context), ...(guard && { guard }) });
  context.rigs.push(rig);
  return rig;
}

const addPod = ({ kube }: Context, digit: string) => kube.put(`pod-${digit}`, { uid: uidOf(digit) });
const covers = ({ guard }: PodRig, id: bigint) =>
  waitFor(`cgroup ${id} to be covered`, () => guard.covered.has(id));
/** Time for an error to show. */
const settle = () => sleep(400);

test('covers the cgroup of a pod that runs already, and what is in it', async (context) => {
  const { cgroups } = context;
  const id = cgroups.make(folderOf('1'));
  const container = cgroups.make(containerOf('1'));
  const inside = await cgroups.startIn(containerOf('1'));
  cgroups.make(containerOf('2'));
  const outside = await cgroups.startIn(containerOf('2'));
  addPod(context, '1');
  const rig = await start(context);
  await covers(rig, id);
  await waitFor('the process', () => rig.guard.pids.has(inside.pid));
  await settle();
  assert.equal([...rig.guard.covered], [id]);
  assert.equal([...rig.guard.pids], [inside.pid]);
  assert.equal(rig.labelled(), [uidOf('1')]);
  assert.is(rig.watch.resolver.podOfCgroup(container), uidOf('1'));
  assert.is(rig.watch.resolver.podOfCgroup(1n), undefined);
  assert.is(await rig.metric('svc_agent_protected_pods'), 1);
  assert.is(await rig.metric('svc_agent_pod_watch_connected'), 1);
  assert.equal(rig.degraded(), {});
  assert.ok(outside.pid);
});

test('covers a pod that is too large to be built; of its containers, those that last may hold the token', async (context) => {
  const { kube, cgroups } = context;
  const id = cgroups.make(folderOf('1'));
  const statuses = (name: string) => [{ name, containerID: `containerd://${name}` }];
  const rest = (count: number, ephemeralContainers: readonly object[] = []) => ({
    spec: { containers: [{ name: 'app', args: Array(count).fill('') }], ephemeralContainers },
    status: { containerStatuses: statuses('app'), ephemeralContainerStatuses: statuses('debugger') },
  });
  kube.put('pod-1', { uid: uidOf('1') }, rest(700_000));
  kube.put('pod-2', { uid: uidOf('2') }, rest(1));
  const rig = await start(context);
  await covers(rig, id);
  assert.equal([...rig.labelled()].sort(), [uidOf('1'), uidOf('2')]);
  const may = (digit: string, container: string) => rig.watch.mayHoldToken(uidOf(digit), container);
  assert.equal(
    [may('1', 'app'), may('1', 'debugger'), may('2', 'app'), may('2', 'debugger')],
    [true, false, true, true],
  );
  assert.equal(rig.degraded(), {});
});

test('names a cgroup by what the kernel calls its id', async ({ cgroups }) => {
  const id = cgroups.make(containerOf('1'));
  const script = [
    'import ctypes, struct, sys',
    'handle = ctypes.create_string_buffer(struct.pack("Ii", 8, 0) + bytes(8))',
    'mount = ctypes.c_int()',
    'call = ctypes.CDLL(None, use_errno=True).name_to_handle_at',
    'assert call(-100, sys.argv[1].encode(), handle, ctypes.byref(mount), 0) == 0, ctypes.get_errno()',
    'print(struct.unpack("Q", handle.raw[8:16])[0])',
  ].join('\n');
  const { stdout, stderr } = await runCommand(
    'python3',
    ['-c', script, join(cgroups.root, containerOf('1'))],
    '/',
  );
  assert.is(stdout.trim(), String(id), stderr);
});

test('covers a pod as soon as its cgroup is made', async (context) => {
  addPod(context, '1');
  const rig = await start(context);
  await waitFor('the pod', () => rig.watch.labelled().length === 1);
  await settle();
  assert.equal([...rig.guard.covered], []);
  await covers(rig, context.cgroups.make(folderOf('1')));
});

test('covers a pod of a kubelet that comes later than the agent', async (context) => {
  await context.cgroups.remove('kubepods.slice');
  const rig = await start(context);
  addPod(context, '1');
  await waitFor('the pod', () => rig.watch.labelled().length === 1);
  await covers(rig, context.cgroups.make(`kubepods/besteffort/pod${uidOf('1')}`));
});

test('covers the cgroup that a pod gets instead of its first one', async (context) => {
  addPod(context, '1');
  const first = context.cgroups.make(folderOf('1'));
  const rig = await start(context);
  await covers(rig, first);
  await context.cgroups.remove(folderOf('1'));
  const second = context.cgroups.make(folderOf('1'));
  assert.is.not(second, first);
  await covers(rig, second);
  await waitFor('the first to be released', () => !rig.guard.covered.has(first));
});

test('covers a static pod, whose cgroup has the hash of its manifest for a name', async (context) => {
  const hash = '0123456789abcdef'.repeat(2);
  const id = context.cgroups.make(`${burstable}/kubepods-burstable-pod${hash}.slice`);
  const annotations = { 'kubernetes.io/config.mirror': hash };
  context.kube.put('static', { uid: uidOf('1'), annotations });
  await covers(await start(context), id);
});

for (const [what, gone] of [
  ['deleted from the API', (kube: FakeKube) => kube.remove('pod-1')],
  [
    'deleted while nobody watched',
    (kube: FakeKube) => {
      kube.quietly(() => kube.remove('pod-1'));
      kube.compact();
      kube.put('later');
      kube.compact();
      kube.cut('reset');
    },
  ],
] as const) {
  test(`goes on covering a pod that was ${what} until its cgroup is gone`, async (context) => {
    const id = context.cgroups.make(folderOf('1'));
    context.cgroups.make(containerOf('1'));
    await context.cgroups.startIn(containerOf('1'));
    addPod(context, '1');
    const rig = await start(context);
    await covers(rig, id);
    gone(context.kube);
    await waitFor('the news', () => !rig.labelled().includes(uidOf('1')));
    await settle();
    assert.ok(rig.guard.covered.has(id));
    assert.is(await rig.metric('svc_agent_protected_pods'), 1);
    await context.cgroups.remove(folderOf('1'));
    await waitFor('the release', () => rig.guard.released.includes(id));
    await waitFor('the metric', async () => (await rig.metric('svc_agent_protected_pods')) === 0);
  });
}

test('releases nothing while the API server is away, and says that it is', async (context) => {
  const id = context.cgroups.make(folderOf('1'));
  addPod(context, '1');
  const rig = await start(context);
  await covers(rig, id);
  context.kube.answer('watch', status(503), 1_000);
  context.kube.cut('reset');
  await waitFor('the loss', async () => (await rig.metric('svc_agent_pod_watch_connected')) === 0);
  assert.match(rig.degraded()['pods'] ?? '', /not being watched/);
  await settle();
  assert.equal([...rig.guard.covered], [id]);
  assert.equal(rig.labelled(), [uidOf('1')]);
});

test('lets go of what an earlier agent covered only when it is gone and the pods are listed', async (context) => {
  const alive = context.cgroups.make(folderOf('1'));
  const [gone] = [context.cgroups.make(folderOf('2'))];
  await context.cgroups.remove(folderOf('2'));
  context.kube.answer('list', status(503), 3);
  const guard = createFakeGuard([alive, gone]);
  const rig = await start(context, guard);
  await rig.logged('kube.watch.failed');
  assert.equal(guard.released, []);
  await waitFor('the release', () => guard.released.length > 0);
  await settle();
  assert.equal(guard.released, [gone]);
  assert.ok(guard.covered.has(alive));
});

test('keeps a container’s cgroup that the programs cover, until it is gone', async (context) => {
  const { cgroups } = context;
  const pod = cgroups.make(folderOf('1'));
  const container = cgroups.make(containerOf('1'));
  addPod(context, '1');
  const rig = await start(context, createFakeGuard([container]));
  await covers(rig, pod);
  await settle();
  assert.equal(rig.guard.released, []);
  await cgroups.remove(containerOf('1'));
  rig.guard.changeStatus();
  await waitFor('its release', () => rig.guard.released.includes(container));
});

/** Deeper than a path can say, as a container can make them step by step. @returns a function that removes them */
function nest(path: string): () => void {
  const name = 'x'.repeat(250);
  const before = process.cwd();
  process.chdir(path);
  for (let depth = 0; depth < 20; depth += 1) {
    mkdirSync(name);
    process.chdir(name);
  }
  process.chdir(before);
  return () => {
    process.chdir(path);
    for (let depth = 0; depth < 20; depth += 1) process.chdir(name);
    for (let depth = 0; depth < 20; depth += 1) {
      process.chdir('..');
      rmdirSync(name);
    }
    process.chdir(before);
  };
}

test('goes on where a container nests its cgroups deeper than a path can say', async (context) => {
  const { cgroups } = context;
  const pod = cgroups.make(folderOf('1'));
  cgroups.make(containerOf('1'));
  const gone = cgroups.make(folderOf('2'));
  await cgroups.remove(folderOf('2'));
  const remove = nest(join(cgroups.root, containerOf('1')));
  try {
    addPod(context, '1');
    const rig = await start(context, createFakeGuard([gone]));
    await covers(rig, pod);
    await waitFor('the release', () => rig.guard.released.includes(gone));
    assert.is(rig.degraded()['pod cgroups'], undefined);
  } finally {
    remove();
  }
});

test('names the pod of a crowded cgroup to log, metrics, health and operator, and tells when it is none any more', async (context) => {
  const { cgroups } = context;
  const id = cgroups.make(folderOf('1'));
  const container = cgroups.make(containerOf('1'));
  addPod(context, '1');
  const rig = await start(context);
  await covers(rig, id);
  assert.equal(rig.watch.crowded(), new Map());
  const before = rig.changes;
  rig.guard.crowd(container, 999_999_999n);
  rig.guard.crowd(container);
  const told = rig.lines.filter(({ event }) => event === 'pod.crowded');
  assert.equal(
    told.map(({ cgroup, pod }) => [cgroup, pod]),
    [
      [String(container), uidOf('1')],
      ['999999999', undefined],
    ],
  );
  assert.match([...rig.watch.crowded()].join(), new RegExp(`^${uidOf('1')},.*more than 8192 processes`));
  assert.is(await rig.metric('svc_agent_crowded_cgroups'), 1);
  assert.match(rig.degraded()['crowded cgroups'] ?? '', new RegExp(`^pod ${uidOf('1')}: `));
  assert.ok(rig.changes > before);
  rig.guard.crowd();
  assert.is(await rig.metric('svc_agent_crowded_cgroups'), 0);
  assert.is(rig.degraded()['crowded cgroups'], undefined);
});

test('keeps what an earlier agent covered where there is no sign of a kubelet', async (context) => {
  await context.cgroups.remove('kubepods.slice');
  const rig = await start(context, createFakeGuard([7n]));
  await waitFor('the connection', async () => (await rig.metric('svc_agent_pod_watch_connected')) === 1);
  await settle();
  assert.equal(rig.guard.released, []);
});

test('covers again what the guard has lost', async (context) => {
  const id = context.cgroups.make(folderOf('1'));
  addPod(context, '1');
  const rig = await start(context);
  await covers(rig, id);
  await settle();
  rig.guard.covered.clear();
  rig.guard.changeStatus();
  // sooner than the round that is made from time to time anyhow
  await waitFor('the cover', () => rig.guard.covered.has(id), { timeoutMs: 20_000 });
});

test('says what it could not cover, and tries again', async (context) => {
  const ids = ['1', '2'].map((digit) => context.cgroups.make(folderOf(digit)));
  for (const digit of ['1', '2']) addPod(context, digit);
  const guard = createFakeGuard();
  guard.room = 1;
  const rig = await start(context, guard);
  await rig.logged('pod.uncovered');
  assert.match(rig.degraded()['pod cgroups'] ?? '', /table is full/);
  assert.is(await rig.metric('svc_agent_protected_pods'), 1);
  guard.room = 2;
  for (const id of ids) await covers(rig, id);
  await waitFor('the recovery', () => rig.degraded()['pod cgroups'] === undefined);
});

test('says that the cluster does not know this node', async (context) => {
  context.kube.answer('get', status(404), 5);
  const rig = await start(context);
  await rig.logged('pods.node.unknown');
  assert.match(rig.degraded()['node name'] ?? '', /NODE_NAME/);
  const [get] = context.kube.requests.filter(({ kind }) => kind === 'get');
  assert.is(get?.path, '/api/v1/nodes/here');
  // a token is not for a server without TLS
  assert.is(get?.headers.authorization, undefined);
});

test('stays off without an API server, and says so once', async (context) => {
  const rig = await startRig({ cgroupRoot: context.cgroups.root, env: { HOME: context.folder.path } });
  context.rigs.push(rig);
  await rig.logged('pods.off');
  assert.equal(
    rig.lines.map(({ level, event }) => [level, event]),
    [['info', 'pods.off']],
  );
  assert.equal(rig.degraded(), {});
  const id = context.cgroups.make(containerOf('1'));
  assert.is(rig.watch.resolver.podOfCgroup(id), uidOf('1'));
});

test('says that its kubeconfig cannot be used', async (context) => {
  const rig = await startRig({ cgroupRoot: context.cgroups.root, env: { KUBECONFIG: '/nowhere' } });
  context.rigs.push(rig);
  await rig.logged('pods.off');
  assert.match(rig.degraded()['pod watch'] ?? '', /\/nowhere/);
});

test('says that there is no cgroup v2', async (context) => {
  addPod(context, '1');
  const rig = await startRig({ cgroupRoot: context.folder.path, env: environment(context) });
  context.rigs.push(rig);
  const [pod] = await waitFor('the pod', () => {
    const labelled = rig.watch.labelled();
    return labelled.length === 1 ? labelled : undefined;
  });
  assert.match(pod?.uncovered ?? '', /no cgroup v2/);
  await waitFor('the word of it', () => /no cgroup v2/.test(rig.degraded()['pod cgroups'] ?? ''));
});

test('names a pod whose cgroup is not there, and tells at once when it is', async (context) => {
  addPod(context, '1');
  const rig = await start(context);
  const isNamed = () => /test\/pod-1: It has no cgroup/.test(rig.degraded()['pod cgroups'] ?? '');
  await waitFor('the word of it', isNamed);
  assert.is(rig.facts()['pods_uncovered'], 'test/pod-1');
  assert.is(await rig.metric('svc_agent_uncovered_pods\\{namespace="test",pod="pod-1"\\}'), 1);
  assert.is(rig.lines.filter(({ event }) => event === 'pod.uncovered').length, 1);
  assert.match(rig.watch.labelled()[0]?.uncovered ?? '', /no cgroup/);
  const before = rig.changes;
  context.cgroups.make(folderOf('1'));
  await waitFor('the change', () => rig.changes > before);
  assert.is(rig.watch.labelled()[0]?.uncovered, undefined);
  assert.equal(rig.degraded(), {});
  assert.is(rig.facts()['pods_uncovered'], '');
  assert.is(await rig.metric('svc_agent_uncovered_pods\\{namespace="test",pod="pod-1"\\}'), undefined);
});

test('says what the table in the kernel holds, and not what was put there', async (context) => {
  const id = context.cgroups.make(folderOf('1'));
  addPod(context, '1');
  const rig = await start(context);
  await covers(rig, id);
  assert.is(rig.watch.labelled()[0]?.uncovered, undefined);
  rig.guard.covered.delete(id);
  assert.match(rig.watch.labelled()[0]?.uncovered ?? '', /not in the table/);
});

test('asks for no pods that have ended', async (context) => {
  await start(context);
  const list = await waitFor('the list', () => context.kube.requests.find(({ kind }) => kind === 'list'));
  assert.is(list.query['fieldSelector'], 'spec.nodeName=here,status.phase!=Succeeded,status.phase!=Failed');
});

test('covers what comes and goes, many at a time', async (context) => {
  const rig = await start(context);
  const digits = '0123456789abcdef'.split('');
  const ids = digits.map((digit) => {
    addPod(context, digit);
    return context.cgroups.make(folderOf(digit));
  });
  for (const id of ids) await covers(rig, id);
  const processes: CgroupProcess[] = [];
  for (const digit of digits.slice(0, 4)) processes.push(await context.cgroups.startIn(folderOf(digit)));
  for (const digit of digits) context.kube.remove(`pod-${digit}`);
  for (const digit of digits.slice(4)) await context.cgroups.remove(folderOf(digit));
  await waitFor('the releases', () => rig.guard.covered.size === 4);
  await settle();
  assert.equal([...rig.guard.covered], ids.slice(0, 4));
  assert.is(processes.length, 4);
});

test.run();
