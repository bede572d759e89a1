import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startFaultProxy } from '../../../support/fault-proxy.ts';
import { type Registry, startRegistry } from '../../../support/registry.ts';
import { entryOf, makeAttestation, makeImage, makeIndex } from '../../../support/registry-images.ts';
import { startRequestLog } from '../../../support/request-log.ts';
import { commandOf, createRig, failureOf, namespace, podWith, pullSecret, type Rig } from './rig.ts';

interface Context {
  open: Registry;
  closed: Registry;
  rig: Rig;
}

const test = suite<Context>('commands of images, by a real registry');
const entrypoint = ['/app/server', '--flag'];
const command = { entrypoint, cmd: ['run'], user: '1000:1000' };

test.before(async (context) => {
  context.open = await startRegistry();
  context.closed = await startRegistry({ users: true });
});
test.before.each((context) => {
  context.rig = createRig();
});
test.after.each(({ rig }) => rig?.stop());
test.after(async ({ open, closed }) => {
  await open?.stop();
  await closed?.stop();
});

async function pushIndex(registry: Registry, repository: string, images: ReturnType<typeof makeImage>[]) {
  for (const image of images) await registry.pushImage(repository, image);
  const [first = makeImage()] = images;
  const attestation = makeAttestation(first);
  await registry.pushImage(repository, attestation.image);
  await registry.pushManifest(repository, 'v1', makeIndex([attestation.entry, ...images.map(entryOf)]));
  return `${registry.host}/${repository}:v1`;
}

test('are those of what umoci builds and skopeo pushes, in OCI and Docker form', async ({ open, rig }) => {
  for (const format of [undefined, 'v2s2'] as const) {
    const tag = format ?? 'oci';
    await open.build('built/app', tag, { ...command, ...(format && { format }) });
    assert.equal(await commandOf(rig, `${open.host}/built/app:${tag}`), command);
  }
});

test('are not looked for in the manifests of old', async ({ open, rig }) => {
  await open.build('built/old', 'v1', { ...command, format: 'v2s1' });
  const failure = await failureOf(commandOf(rig, `${open.host}/built/old:v1`));
  assert.match(failure, /built\/old:v1: .*schema of Docker before 1.10/);
  assert.match(failure, /svc\/command/);
});

test('are found by tag, by digest and by both, where the digest wins', async ({ open, rig }) => {
  const first = await open.push('team/app', 'v1', command);
  await open.push('team/app', 'v2', { ...command, cmd: ['other'] });
  assert.equal(await commandOf(rig, `${open.host}/team/app:v1`), command);
  assert.equal(await commandOf(rig, `${open.host}/team/app@${first.manifest.digest}`), command);
  assert.equal(await commandOf(rig, `${open.host}/team/app:v2@${first.manifest.digest}`), command);
  assert.equal((await commandOf(rig, `${open.host}/team/app:v2`))?.cmd, ['other']);
});

test('all fail together, each with its reason', async ({ open, rig }) => {
  await open.push('team/app', 'v1', command);
  const images = [`${open.host}/team/app:v1`, `${open.host}/team/none:v1`, 'Wrong/Name', '127.0.0.1:1/a'];
  const looking = rig.commands.commandsOf(podWith(), namespace, images, {
    timeoutMs: 20_000,
  });
  const [first = '', second = '', third = '', ...others] = (await failureOf(looking))
    .split('\n')
    .slice(1, -1);
  assert.equal(others, []);
  assert.match(first, /team\/none:v1: 127.0.0.1:\d+ answers 404\. Check the name and tag/);
  assert.match(second, /Wrong\/Name: the repository must be in lower case/);
  assert.match(third, /127.0.0.1:1\/a: its registry did not say\. Check/);
  assert.match(rig.log.join(), /127.0.0.1:1 does not answer \(ECONNREFUSED\)/);
});

test('of several platforms are those of Linux, whatever stands first', async ({ open, rig }) => {
  const windows = makeImage({ os: 'windows', entrypoint: ['cmd.exe'] });
  const exotic = makeImage({ architecture: 'mips64le', entrypoint: ['/exotic'] });
  const arm = makeImage({ ...command, architecture: 'arm64' });
  const intel = makeImage({ ...command, architecture: 'amd64', format: 'docker' });
  assert.equal(
    await commandOf(rig, await pushIndex(open, 'multi/all', [windows, exotic, arm, intel])),
    command,
  );
  assert.equal(await commandOf(rig, await pushIndex(open, 'multi/arm', [arm])), command);
  const none = await failureOf(commandOf(rig, await pushIndex(open, 'multi/windows', [windows])));
  assert.match(none, /no image for linux\/any, but none for Linux/);
});

test('that differ between platforms need to know the node', async ({ open, rig }) => {
  const arm = makeImage({ ...command, architecture: 'arm64', cmd: ['arm'] });
  const intel = makeImage({ ...command, architecture: 'amd64' });
  const image = await pushIndex(open, 'multi/different', [arm, intel]);
  assert.match(
    await failureOf(commandOf(rig, image)),
    /amd64, arm64 run different commands\. .*nodeSelector/,
  );
  assert.equal((await commandOf(rig, image, podWith({ architecture: 'arm64' })))?.cmd, ['arm']);
  assert.equal(await commandOf(rig, image, podWith({ architecture: 'amd64' })), command);
  assert.match(
    await failureOf(commandOf(rig, image, podWith({ architecture: 's390x' }))),
    /no image for linux\/s390x, but those for arm64, amd64/,
  );
});

test('of a private image need a pull secret of the pod or of its account', async ({ closed, rig }) => {
  await closed.push('team/private', 'v1', command);
  const image = `${closed.host}/team/private:v1`;
  const { secrets, accounts } = rig.objects;
  assert.match(await failureOf(commandOf(rig, image)), /answers 401\. Give the pod .* pull secret/);
  secrets.set('login', pullSecret({ [closed.host]: 'alice' }));
  assert.equal(await commandOf(rig, image, podWith({ pullSecrets: ['login'] })), command);
  accounts.set('shopkeeper', { imagePullSecrets: [{ name: 'login' }] });
  assert.equal(await commandOf(rig, image, podWith({ account: 'shopkeeper' })), command);
  rig.pass(11_000);
  assert.match(await failureOf(commandOf(rig, image)), /401/);
});

test('are asked for as one user after the other', async ({ closed, rig }) => {
  await closed.push('team/rotated', 'v1', command);
  const { secrets } = rig.objects;
  secrets.set('old', pullSecret({ [`${closed.host}/team`]: 'nobody' }));
  secrets.set('new', pullSecret({ [closed.host]: 'bob' }));
  const pod = podWith({ pullSecrets: ['old', 'new'] });
  assert.equal(await commandOf(rig, `${closed.host}/team/rotated:v1`, pod), command);
  const stranger = podWith({ pullSecrets: ['old', 'missing'] });
  const failure = await failureOf(commandOf(rig, `${closed.host}/team/rotated:v1`, stranger));
  assert.match(failure, /401; pull secret missing does not exist\./);
});

test('are found as soon as the pull secret has been fixed', async ({ closed, rig }) => {
  await closed.push('team/fixed', 'v1', command);
  const image = `${closed.host}/team/fixed:v1`;
  const pod = podWith({ pullSecrets: ['login'] });
  rig.objects.secrets.set('login', pullSecret({ [closed.host]: 'nobody' }));
  assert.match(await failureOf(commandOf(rig, image, pod)), /401/);
  rig.objects.secrets.set('login', pullSecret({ [closed.host]: 'bob' }));
  assert.equal(await commandOf(rig, image, pod), command);
  assert.equal((await rig.outcomes())['found'], 1);
});

test('that somebody may see are kept for nobody else', async ({ closed, rig }) => {
  const { manifest } = await closed.push('team/secret', 'v1', command);
  rig.objects.secrets.set('alice', pullSecret({ [closed.host]: 'alice' }));
  rig.objects.secrets.set('nobody', pullSecret({ [closed.host]: 'nobody' }));
  for (const suffix of [':v1', `@${manifest.digest}`]) {
    const image = `${closed.host}/team/secret${suffix}`;
    assert.equal(await commandOf(rig, image, podWith({ pullSecrets: ['alice'] })), command);
    assert.match(await failureOf(commandOf(rig, image)), /401/);
    assert.match(await failureOf(commandOf(rig, image, podWith({ pullSecrets: ['nobody'] }))), /401/);
  }
});

test('are kept, so that the registry is asked once, and a tag again after five minutes', async ({
  open,
  rig,
}) => {
  await open.push('team/kept', 'v1', command);
  const log = await startRequestLog(open.url);
  try {
    const image = `127.0.0.1:${log.port}/team/kept:v1`;
    await Promise.all(Array.from({ length: 20 }, () => commandOf(rig, image)));
    assert.equal(
      log.requests.map(({ method, path }) => `${method} ${path.replace(/sha256:.*/, 'digest')}`),
      [
        'HEAD /v2/team/kept/manifests/v1',
        'GET /v2/team/kept/manifests/digest',
        'GET /v2/team/kept/blobs/digest',
      ],
    );
    rig.pass(299_000);
    await commandOf(rig, image);
    assert.is(log.requests.length, 3);
    rig.pass(2_000);
    await commandOf(rig, image);
    assert.is(log.requests.length, 4);
    rig.pass(301_000);
    await open.push('team/kept', 'v1', { ...command, cmd: ['changed'] });
    assert.equal((await commandOf(rig, image))?.cmd, ['changed']);
  } finally {
    await log.stop();
  }
});

test('are still known while the registry is away, for a day, and found again when it is back', async ({
  open,
  rig,
}) => {
  await open.push('team/away', 'v1', command);
  const image = `${open.host}/team/away:v1`;
  await commandOf(rig, image);
  await open.pause();
  try {
    assert.equal(await commandOf(rig, image), command);
    rig.pass(3_600_000);
    assert.equal(await commandOf(rig, image), command);
    assert.match(await failureOf(commandOf(rig, `${open.host}/team/app:v1`)), /its registry did not say/);
    assert.equal((await rig.outcomes())['stale'], 1);
    rig.pass(24 * 3_600_000);
    assert.match(await failureOf(commandOf(rig, image)), /its registry did not say/);
  } finally {
    await open.resume();
  }
  assert.match(await failureOf(commandOf(rig, image)), /its registry did not say/);
  rig.pass(11_000);
  assert.equal(await commandOf(rig, image), command);
});

test('that were kept for a user serve nobody else while the registry is away', async ({ closed, rig }) => {
  await closed.push('team/hidden', 'v1', command);
  const image = `${closed.host}/team/hidden:v1`;
  rig.objects.secrets.set('alice', pullSecret({ [closed.host]: 'alice' }));
  const pod = podWith({ pullSecrets: ['alice'] });
  await commandOf(rig, image, pod);
  await closed.pause();
  try {
    rig.pass(3_600_000);
    assert.match(await failureOf(commandOf(rig, image)), /its registry did not say/);
    assert.equal(await commandOf(rig, image, pod), command);
  } finally {
    await closed.resume();
  }
});

test('of a slow registry are there for whoever comes later', async ({ open, rig }) => {
  await open.push('team/slow', 'v1', command);
  const faults = await startFaultProxy(open.url);
  try {
    const image = `127.0.0.1:${faults.port}/team/slow:v1`;
    faults.hang();
    assert.match(await failureOf(commandOf(rig, image, podWith(), 300)), /its registry did not say/);
    await faults.heal();
    assert.equal(await commandOf(rig, image), command);
  } finally {
    await faults.stop();
  }
});

test('are tried again where the connection is cut or the registry asks to wait', async ({ open, rig }) => {
  await open.push('team/cut', 'v1', command);
  const faults = await startFaultProxy(open.url);
  try {
    const image = `127.0.0.1:${faults.port}/team/cut:v1`;
    faults.cutAfter(100, 'to-client', 'reset', { count: 1 });
    assert.equal(await commandOf(rig, image), command);
    rig.pass(400_000);
    faults.answer(429, '', { count: 1, headers: { 'retry-after': '1' } });
    assert.equal(await commandOf(rig, image), command);
    rig.pass(25 * 3_600_000);
    faults.answer(429, '{"errors":[{"code":"TOOMANYREQUESTS"}]}', { headers: { 'retry-after': '600' } });
    assert.match(await failureOf(commandOf(rig, image)), /its registry did not say/);
    assert.match(rig.log.join(), /answers 429/);
    assert.is(faults.stats.answered, 2);
  } finally {
    await faults.stop();
  }
});

test('are looked for at a mirror first, and at the registry where the mirror has none', async ({
  open,
  closed,
}) => {
  await open.push('mirrored/library/app', 'v1', { ...command, cmd: ['mirror'] });
  await closed.push('library/app', 'v1', command);
  const rig = createRig([`${closed.host}=${open.url}/mirrored`]);
  try {
    rig.objects.secrets.set('login', pullSecret({ [closed.host]: 'alice' }));
    const pod = podWith({ pullSecrets: ['login'] });
    assert.equal((await commandOf(rig, `${closed.host}/library/app:v1`, pod))?.cmd, ['mirror']);
    await closed.push('library/other', 'v1', command);
    assert.equal(await commandOf(rig, `${closed.host}/library/other:v1`, pod), command);
  } finally {
    rig.stop();
  }
});

test('end with the operator, and with whoever asks', async ({ open, rig }) => {
  const faults = await startFaultProxy(open.url);
  try {
    faults.hang();
    const asking = new AbortController();
    const looking = rig.commands.commandsOf(podWith(), namespace, [`127.0.0.1:${faults.port}/a/b`], {
      timeoutMs: 20_000,
      signal: asking.signal,
    });
    asking.abort(new Error('gone'));
    assert.match(await failureOf(looking), /gone/);
    const other = commandOf(rig, `127.0.0.1:${faults.port}/a/c`);
    setTimeout(() => rig.stop(), 50);
    assert.match(await failureOf(other), /stopped/);
  } finally {
    await faults.stop();
  }
});

test('show no password in what is logged or told', async ({ closed, rig }) => {
  rig.objects.secrets.set('nobody', pullSecret({ [closed.host]: 'nobody' }));
  const secret = Buffer.from('{"auths": alice-password').toString('base64');
  const broken = { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': secret } };
  rig.objects.secrets.set('broken', broken);
  const pod = podWith({ pullSecrets: ['nobody', 'broken'] });
  const failure = await failureOf(commandOf(rig, `${closed.host}/team/x:v1`, pod));
  assert.match(failure, /pull secret broken cannot be used: it is not a JSON object/);
  const told = failure + rig.log.join('\n');
  assert.match(rig.log.join('\n'), /image.lookup_failed/);
  assert.not.match(told, /password|bm9ib2R5|YWxpY2/);
});

test.run();
