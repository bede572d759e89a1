import {
  chmodSync,
  cpSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { sha256File } from '../../../../scripts/lib/wrapper-folder/cache.mjs';
import { buildImage, type TestImage } from '../../../support/image.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { digestOf, toldIn } from './application.ts';
import { installWrapper } from './installer.ts';
import type { PodRun } from './kubelet/kubelet.ts';
import { app, create, type PodText, post, run } from './pods.ts';
import { startWorld, type World, wrapperImage } from './world.ts';

export const timeout = 300_000;
const test = suite("the wrapper's folder as nodes keep it");
const SECRET = 'out-of-a-folder-of-the-node';
const values = {
  registry: 'registry.example',
  operator: { wrapperDelivery: 'host' },
  wrapper: { image: { repository: 'svc/wrapper', tag: 'test' } },
};

let world: World;
let image: TestImage;
let node: TemporaryFolder;
let namespace: string;
const pods: PodRun[] = [];

test.before(async () => {
  node = temporaryFolder('node');
  chmodSync(node.path, 0o755);
  image = await buildImage('wrapper');
  world = await startWorld({ values, hostRoot: node.path });
  world.images.set(wrapperImage, { root: image.root, ...image.target, shared: true });
  await world.kv.put('app', { PASSWORD: SECRET });
  namespace = await world.namespace();
});

test.after.each(async () => {
  await Promise.all(pods.splice(0).map((pod) => pod.stop()));
});

test.after(async () => {
  await world?.stop();
  await image?.remove();
  await node?.remove();
});

const folder = () => join(node.path, 'var/lib/svc/wrapper');
const current = () => readlinkSync(join(folder(), 'current'));

async function start(text: Omit<PodText, 'namespace'>): Promise<PodRun> {
  const pod = await run(world, { namespace, ...text });
  pods.push(pod);
  return pod;
}

async function install(name: string, version?: string): Promise<void> {
  pods.push(await installWrapper(world, name, version));
}

/** An image of the wrapper that differs by one file; runs as the other does. */
function otherVersion(version: string): string {
  const reference = `registry.example/svc/wrapper:${version}`;
  const root = world.makeRoot((path) =>
    cpSync(image.root, path, { recursive: true, verbatimSymlinks: true }),
  );
  const note = join(root, 'svc', 'VERSION');
  writeFileSync(note, version);
  const manifest = JSON.parse(readFileSync(join(root, 'svc/MANIFEST.json'), 'utf8'));
  manifest.files['VERSION'] = { bytes: version.length, sha256: sha256File(note) };
  writeFileSync(join(root, 'svc/MANIFEST.json'), JSON.stringify(manifest));
  world.images.set(reference, { root, ...image.target, shared: true });
  return reference;
}

async function toldBy(pod: PodRun) {
  const container = pod.container('app');
  assert.is((await container.exited).code, 0, container.output());
  return toldIn(container.output());
}

const stays = app({ env: [{ name: 'APP_STAYS', value: 'true' }], securityContext: { runAsUser: 1000 } });
const running = (pod: PodRun) =>
  waitFor('the application', () => /^staying$/m.test(pod.container('app').output()), {
    details: () => pod.container('app').output(),
  });
const shown = async (pod: PodRun, file: string) =>
  (await pod.container('app').exec(['/bin/busybox', 'cat', file])).stdout;

test('starts nothing on a node whose agent has not brought it yet', async () => {
  await create(world, { name: 'early', namespace });
  await world.kubelet.run(namespace, 'early').then(
    () => assert.unreachable('it started'),
    (error: Error) => assert.match(error.message, /wrapper\/current is not a directory/),
  );
});

test("is brought by the agent's init container, for all to read and for root alone to write", async () => {
  await install('agent-1');
  assert.match(current(), /^[0-9a-f]{32}$/);
  const entries = readdirSync(join(folder(), current()), { recursive: true, withFileTypes: true });
  assert.ok(entries.some(({ name }) => name === 'svc-wrapper'));
  for (const { parentPath, name } of entries) {
    const { uid, mode } = lstatSync(join(parentPath, name));
    assert.equal([uid, mode & 0o022], [0, 0], name);
  }
  assert.is(statSync(join(folder(), 'current')).mode & 0o777, 0o755);
});

test('starts the application with its secret, whoever it runs as', async () => {
  for (const runAsUser of [0, 1000]) {
    const spec = { containers: [app({ securityContext: { runAsUser } })] };
    const pod = await start({ name: `user-${runAsUser}`, spec });
    assert.equal(pod.pod.spec.initContainers ?? [], []);
    assert.is((await toldBy(pod)).digest, digestOf(SECRET));
  }
});

test('cannot be written to by pods, root among them', async () => {
  const script = 'echo evil >/svc/svc-wrapper; echo evil >/svc/new; rm -r /svc/bin; exec /bin/app';
  const container = app({ command: ['/bin/busybox', 'sh', '-c', script], securityContext: { runAsUser: 0 } });
  const before = sha256File(join(folder(), 'current/svc-wrapper'));
  const pod = await start({ name: 'writes', spec: { containers: [container] } });
  assert.is((await toldBy(pod)).digest, digestOf(SECRET));
  assert.match(pod.container('app').output(), /Read-only file system/);
  assert.is(sha256File(join(folder(), 'current/svc-wrapper')), before);
  assert.not.ok(readdirSync(join(folder(), current())).includes('new'));
});

test('changes for new pods alone: those that run keep theirs, and end as ever two versions later', async () => {
  const former = current();
  const pod = await start({ name: 'old', spec: { containers: [stays] } });
  await running(pod);
  await install('agent-2', otherVersion('2'));
  assert.is.not(current(), former);
  assert.is(await shown(pod, '/svc/VERSION'), '');
  const next = await start({ name: 'new', spec: { containers: [stays] } });
  await running(next);
  assert.is(await shown(next, '/svc/VERSION'), '2');
  await install('agent-3', otherVersion('3'));
  assert.not.ok(readdirSync(folder()).includes(former), 'older than the one before is taken away');
  assert.is((await pod.get(8081, '/readyz')).status, 0);
  await Promise.all([pod.end(), next.end()]);
  for (const one of [pod, next]) {
    assert.is((await one.container('app').exited).code, 0);
    assert.match(one.container('app').output(), /^stopped$/m);
  }
});

test('goes back to a former version as it goes on', async () => {
  await install('agent-4');
  const pod = await start({ name: 'back', spec: { containers: [stays] } });
  await running(pod);
  assert.is(await shown(pod, '/svc/VERSION'), '');
  await pod.end();
});

test('is refused where the Pod Security level lets no pod see the node', async () => {
  const baseline = await world.namespace({ 'pod-security.kubernetes.io/enforce': 'baseline' });
  const { status, text } = await post(world, { name: 'baseline', namespace: baseline });
  assert.is(status, 403);
  assert.match(text, /operator\.wrapperDelivery: host needs a hostPath volume/);
});

test.run();
