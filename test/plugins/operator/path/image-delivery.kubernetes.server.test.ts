import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { buildImage, type TestImage } from '../../../support/image.ts';
import { digestOf, toldIn } from './application.ts';
import type { PodRun } from './kubelet/kubelet.ts';
import type { NodeImage } from './kubelet/oci-config.ts';
import { app, asked, create, type PodText, restrictedContainer, restrictedPod, run } from './pods.ts';
import { startWorld, type World, wrapperImage } from './world.ts';

export const timeout = 300_000;
const test = suite("the wrapper's folder as an image volume");
const SECRET = 'out-of-an-image-volume';

let world: World;
let image: TestImage;
let onNode: NodeImage;
const pods: PodRun[] = [];

test.before(async () => {
  image = await buildImage('wrapper');
  world = await startWorld({ values: { operator: { wrapperDelivery: 'image' } } });
  onNode = { root: image.root, ...image.target, shared: true };
  await world.kv.put('app', { PASSWORD: SECRET });
});

test.before.each(() => {
  world.images.set(wrapperImage, onNode);
});

test.after.each(async () => {
  await Promise.all(pods.splice(0).map((pod) => pod.stop()));
});

test.after(async () => {
  await world?.stop();
  await image?.remove();
});

async function start(text: PodText): Promise<PodRun> {
  const pod = await run(world, text);
  pods.push(pod);
  return pod;
}

async function toldBy(pod: PodRun, name = 'app') {
  const container = pod.container(name);
  assert.is((await container.exited).code, 0, container.output());
  return toldIn(container.output());
}

test('starts the application with its secret, without an init container', async () => {
  const namespace = await world.namespace();
  const pod = await start({ name: 'plain', namespace });
  assert.equal(pod.pod.spec.initContainers ?? [], []);
  const [volume] = pod.pod.spec.volumes?.filter(({ name }) => name === 'svc-wrapper') ?? [];
  assert.equal(volume?.image, { reference: wrapperImage, pullPolicy: 'IfNotPresent' });
  assert.is((await toldBy(pod)).digest, digestOf(SECRET));
});

test('does so for users other than root, at the level restricted, and in init containers', async () => {
  const namespace = await world.namespace({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  const annotations = { ...asked, 'svc/containers': 'migrate,app' };
  const spec = {
    securityContext: restrictedPod,
    initContainers: [app({ name: 'migrate', securityContext: restrictedContainer })],
    containers: [app({ securityContext: restrictedContainer })],
  };
  const pod = await start({ name: 'restricted', namespace, annotations, spec });
  assert.is((await toldBy(pod)).digest, digestOf(SECRET));
  assert.is((await toldBy(pod, 'migrate')).digest, digestOf(SECRET));
});

test('cannot be written to, by root either', async () => {
  const namespace = await world.namespace();
  const script = 'echo evil >/svc/svc-wrapper; echo evil >/svc/new; echo evil >/svc/certs/new; exec /bin/app';
  const container = app({
    command: ['/bin/busybox', 'sh', '-c', script],
    securityContext: { runAsUser: 0 },
  });
  const pod = await start({ name: 'writes', namespace, spec: { containers: [container] } });
  assert.is((await toldBy(pod)).digest, digestOf(SECRET));
  assert.is(
    pod
      .container('app')
      .output()
      .match(/Read-only file system/g)?.length,
    3,
  );
});

/** As runtimes mounted image volumes before Kubernetes 1.35, where they kept to its documentation. */
test('starts nothing where the runtime executes nothing from image volumes', async () => {
  world.images.set(wrapperImage, { ...onNode, volumeOptions: ['noexec'] });
  const namespace = await world.namespace();
  await create(world, { name: 'noexec', namespace });
  const failure = await world.kubelet.run(namespace, 'noexec').then(
    async (pod) => {
      pods.push(pod);
      const { code } = await pod.container('app').exited;
      assert.is.not(code, 0);
      return pod.container('app').output();
    },
    (error: Error) => error.message,
  );
  assert.match(failure, /permission denied/i);
  assert.not.match(failure, /^argv /m);
});

test('starts nothing on a node that cannot pull the image', async () => {
  world.images.delete(wrapperImage);
  const namespace = await world.namespace();
  await create(world, { name: 'absent', namespace });
  await world.kubelet.run(namespace, 'absent').then(
    () => assert.unreachable('it started'),
    (error: Error) => assert.match(error.message, /cannot be pulled/),
  );
});

test.run();
