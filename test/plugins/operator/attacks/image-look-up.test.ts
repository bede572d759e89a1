import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { digestOf } from '../../../../src/core/image/digest.ts';
import { type FakeRegistry, send, startFakeRegistry } from '../../../runtime/registry/fake-registry.ts';
import { commandOf, createRig, failureOf } from '../images/rig.ts';

const test = suite<{ registry: FakeRegistry }>('images that are named to make the operator call others');

test.before.each(async (context) => {
  context.registry = await startFakeRegistry();
});
test.after.each(({ registry }) => registry.stop());

test('in a pod, its own ports are not asked, however they are written', async ({ registry }) => {
  const rig = createRig([], { local: false });
  const port = registry.host.split(':')[1];
  for (const host of [
    `localhost:${port}`,
    `127.0.0.1:${port}`,
    `127.1:${port}`,
    `0x7f.1:${port}`,
    `[::1]:${port}`,
  ])
    assert.match(
      await failureOf(commandOf(rig, `${host}/team/app:v1`)),
      /is the node itself, out of reach here/,
    );
  assert.equal(registry.asked, []);
  rig.stop();
});

test('unless the operator is told that a mirror is there', async ({ registry }) => {
  const rig = createRig([`registry.example=${registry.url}`], { local: false });
  await failureOf(commandOf(rig, 'registry.example/team/none:v1'));
  assert.match(registry.asked.join(), /HEAD \/v2\/team\/none\/manifests\/v1/);
  rig.stop();
});

test('an index of very many images is not followed', async ({ registry }) => {
  const rig = createRig();
  const mediaType = 'application/vnd.oci.image.index.v1+json';
  const entry = (index: number) => ({
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    digest: digestOf(Buffer.from(String(index))),
    size: 1,
    platform: { os: 'linux', architecture: 'amd64', variant: `v${index}` },
  });
  const manifests = Array.from({ length: 1_000 }, (_, index) => entry(index));
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, manifests }));
  const digest = digestOf(bytes);
  registry.on(/\/manifests\//, send({ bytes, mediaType, digest }, { 'docker-content-digest': digest }));
  assert.match(
    await failureOf(commandOf(rig, `${registry.host}/team/app:v1`)),
    /no more than 8 are looked at/,
  );
  assert.ok(registry.asked.length < 10);
  rig.stop();
});

test('slow registries of one namespace leave room for the others', async ({ registry }) => {
  const rig = createRig();
  registry.on(/\/v2\/slow\//, () => {});
  const slow = (index: number) => commandOf(rig, `${registry.host}/slow/a${index}:v1`);
  const first = Array.from({ length: 32 }, (_, index) => slow(index).catch(() => {}));
  assert.match(await failureOf(slow(32)), /too many images of its namespace/);
  rig.stop();
  await Promise.all(first);
});

test.run();
