import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { digestOf } from '../../../../src/cluster/images/reference.ts';
import { answer, type FakeRegistry, send, startFakeRegistry } from '../../../cluster/images/fake-registry.ts';
import { patient } from '../../../support/patience.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { commandOf, createRig, failureOf, namespace, podWith } from '../images/rig.ts';

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
  assert.match(await failureOf(commandOf(rig, `${registry.host}/team/app:v1`)), /at most 8 are examined/);
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

test('reviews that wait for registries leave places for others, and each namespace for the next', async ({
  registry,
}) => {
  const rig = createRig([], { mostWaiting: 4 });
  registry.on(/\/v2\/slow\//, () => {});
  const look = (namespace: string, options = {}) =>
    rig.commands.commandsOf(podWith(), namespace, [`${registry.host}/slow/app:v1`], {
      ...{ timeoutMs: 20_000, ...options },
    });
  const waiting = [look('one'), look('one')].map((one) => one.catch(() => {}));
  await waitFor('a request', async () => registry.asked.length > 0);
  const began = performance.now();
  assert.match(await failureOf(look('one')), /too many reviews are waiting for registries/);
  assert.ok(performance.now() - began < patient(1_000));
  waiting.push(look('two').catch(() => {}));
  // the last place is kept for a namespace that has none
  assert.match(await failureOf(look('two')), /too many reviews are waiting/);
  waiting.push(look('three').catch(() => {}));
  assert.match(await failureOf(look('four')), /too many reviews are waiting/);
  rig.stop();
  await Promise.all(waiting);
});

test('two namespaces whose registries are silent keep no other from its images', async ({ registry }) => {
  const rig = createRig([], { mostWaiting: 24 });
  registry.on(/\/v2\/slow\//, () => {});
  const look = (namespace: string, image: string) =>
    rig.commands.commandsOf(podWith(), namespace, [`${registry.host}/${image}`], { timeoutMs: 20_000 });
  const slow = ['one', 'two'].flatMap((namespace) =>
    Array.from({ length: 40 }, (_, index) =>
      look(namespace, `slow/${namespace}-${index}:v1`).catch(() => {}),
    ),
  );
  await waitFor('their requests', async () => registry.asked.length >= 9);
  const silent = registry.asked.length;
  for (const victim of ['three', 'four', 'five']) {
    const found = await look(victim, 'team/app:v1');
    assert.equal([...found.values()][0]?.entrypoint, ['/right']);
    rig.pass(24 * 3_600_000 + 1);
  }
  // none of theirs has been given up meanwhile
  assert.is(registry.asked.filter((each) => each.includes('/slow/')).length, silent);
  rig.stop();
  await Promise.all(slow);
});

test('what is known already needs no place', async ({ registry }) => {
  const rig = createRig([], { mostWaiting: 0 });
  const image = `${registry.host}/team/app:v1`;
  assert.match(await failureOf(commandOf(rig, image)), /too many reviews are waiting/);
  // the look-up went on
  const found = await waitFor('the command', () => commandOf(rig, image).catch(() => undefined));
  assert.equal(found?.entrypoint, ['/right']);
  rig.stop();
});

test('a registry that is silent refuses the pod also where only the user is wanted', async ({ registry }) => {
  const rig = createRig();
  registry.on(/\/v2\/slow\//, () => {});
  const images = [`${registry.host}/slow/app:v1`, `${registry.host}/team/none:v1`];
  const dispensable = new Set(images);
  const looking = rig.commands.commandsOf(podWith(), namespace, images, { timeoutMs: 200, dispensable });
  const failure = await failureOf(looking);
  assert.match(failure, /slow\/app:v1: its registry did not say/);
  assert.match(failure, /runAsUser/);
  assert.not.match(failure, /none:v1/);
  rig.stop();
});

const unsuitable = [
  ...['0.0.0.0', '0.1.2.3', '[::]', '[::ffff:7f00:1]', '[::7f00:1]'],
  ...[
    '169.254.169.254',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '[fd20:ce::254]',
    '[fd00:c1::a9fe:a9fe]',
    '100.100.100.200',
    '[64:ff9b::7f00:1]',
  ],
  ...['[64:ff9b::a9fe:a9fe]', '[2002:7f00:1::]', '224.0.0.1', '255.255.255.255', '168.63.129.16'],
];

test('addresses that no registry can have are not connected to, and no reason is told', async () => {
  const rig = createRig([], { local: false });
  const failures = await Promise.all(
    unsuitable.map((host) => failureOf(commandOf(rig, `${host}:5000/team/app:v1`))),
  );
  for (const [index, failure] of failures.entries())
    assert.match(failure, /: its registry did not say\. Check its name/, unsuitable[index]);
  const refused = rig.log.filter((line) => line.includes('does not answer (ADDRESS_REFUSED)'));
  assert.is(refused.length, unsuitable.length, rig.log.join('\n'));
  rig.stop();
});

test('open, closed and foreign ports are told alike', async ({ registry }) => {
  const rig = createRig();
  registry.on(/\/v2\/web\//, answer(404, { 'content-type': 'text/html' }, '<html>'));
  registry.on(/\/v2\/login\//, answer(401, { 'www-authenticate': 'Basic realm="intranet"' }));
  registry.on(/\/v2\/any\//, answer(200, { 'content-type': 'text/html' }, 'hello'));
  registry.on(/\/v2\/away\//, answer(302, { location: 'https://127.0.0.1:1/' }));
  const host = registry.host;
  const images = ['web', 'login', 'any', 'away'].map((path) => `${host}/${path}/app:v1`);
  const told = new Set<string>();
  for (const image of [...images, '127.0.0.1:1/team/app:v1'])
    told.add((await failureOf(commandOf(rig, image))).replace(image, 'IMAGE'));
  assert.is(told.size, 1, [...told].join('\n'));
  assert.match(rig.log.join(), /ECONNREFUSED/);
  rig.stop();
});

test.run();
