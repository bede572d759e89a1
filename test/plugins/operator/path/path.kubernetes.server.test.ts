import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startOpenBao } from '../../../support/openbao.ts';
import type { OpenBao } from '../../../support/types.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { digestOf, toldIn } from './application.ts';
import type { PodRun } from './kubelet/kubelet.ts';
import { app, asked, create, type PodText, restrictedContainer, restrictedPod, run } from './pods.ts';
import { startWorld, type World } from './world.ts';

export const idle = true;

export const timeout = 300_000;
const test = suite('from annotations to a process with its secret');
const SECRET = 'correct-horse-battery-staple';
const digest = digestOf(SECRET);

let world: World;
/** A secrets server of somebody else. */
let stranger: OpenBao;
let namespace: string;
const pods: PodRun[] = [];

test.before(async () => {
  stranger = await startOpenBao({ tls: true });
  world = await startWorld({ ports: [stranger.port] });
  await world.kv.put('app', { PASSWORD: SECRET, user: 'shop' });
  namespace = await world.namespace();
});

test.after.each(async () => {
  await Promise.all(pods.splice(0).map((pod) => pod.stop()));
});

test.after(async () => {
  await world?.stop();
  await stranger?.stop();
});

async function start(text: Partial<PodText> & Pick<PodText, 'name'>): Promise<PodRun> {
  const pod = await run(world, { namespace, ...text });
  pods.push(pod);
  return pod;
}

async function ended(pod: PodRun, name = 'app', expected = 0) {
  const container = pod.container(name);
  const { code } = await container.exited;
  assert.is(code, expected, container.output());
  return container.output();
}

const toldBy = async (pod: PodRun, name = 'app') => toldIn(await ended(pod, name));

/** The forms in which a value could have been written. */
const forms = [
  SECRET,
  Buffer.from(SECRET).toString('base64').slice(0, -4),
  Buffer.from(SECRET).toString('hex'),
];

test('an annotated pod runs with its secret, which stands in no log and in no object', async () => {
  const pod = await start({ name: 'plain' });
  assert.is((await toldBy(pod)).digest, digest);
  const kinds = 'pods,configmaps,secrets,events,protectionreports';
  const { stdout } = await world.kube.kubectl(['get', kinds, '-A', '-o', 'json']);
  assert.match(stdout, /"plain"/);
  const written = [
    pod.container('app').output(),
    pod.container('svc-wrapper').output(),
    stdout,
    ...world.cluster.replicas.map((replica) => replica.output()),
  ].join('\n');
  for (const form of forms) assert.not.ok(written.includes(form), 'a form of the secret is written down');
});

test('a child of the application sees what the pod says, and nothing of the wrapper', async () => {
  for (const name of ['vault', 'svc', 'svc-proxy'])
    await world.kube.must('POST', `/api/v1/namespaces/${namespace}/services`, {
      ...{ metadata: { name }, spec: { ports: [{ name: 'http', port: 80 }] } },
    });
  const env = [
    { name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
    { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'BOTH', value: '$(POD)@$(NODE) $$(POD) $(NONE) $(LATER)' },
    { name: 'LATER', value: 'x' },
    { name: 'SVC_PORT', value: '8080' },
  ];
  const { child } = await toldBy(await start({ name: 'child', spec: { containers: [app({ env })] } }));
  const node = child.get('NODE');
  assert.match(node ?? '', /^node-/);
  assert.is(child.get('BOTH'), `child@${node} $(POD) $(NONE) $(LATER)`);
  assert.is(child.get('SVC_PORT'), '8080', 'a variable of the container wins over one of a Service');
  assert.is(child.get('user'), 'shop');
  assert.match(child.get('SVC_PROXY_SERVICE_HOST') ?? '', /^10\./);
  assert.match(child.get('VAULT_PORT') ?? '', /^tcp:/);
  assert.match(child.get('KUBERNETES_SERVICE_PORT') ?? '', /^\d+$/);
  for (const name of child.keys())
    assert.not.match(
      name,
      /^(VAULT_(ADDR|AUTH|SKIP)|SVC_(ORIGINAL|SECRET_PATHS|POD_UID|REQUIRE)|HEALTH_ADDR)/,
    );
});

test('a user, a group and a root that is read-only, in a namespace of the level restricted', async () => {
  const restricted = await world.namespace({ 'pod-security.kubernetes.io/enforce': 'restricted' });
  const command = ['/bin/busybox', 'sh', '-c', 'echo to a file >/dev/stdout; exec ./app'];
  const containers = [app({ command, workingDir: '/bin', securityContext: restrictedContainer })];
  const pod = await start({
    name: 'user',
    namespace: restricted,
    spec: { securityContext: restrictedPod, containers },
  });
  const told = await toldBy(pod);
  assert.match(pod.container('app').output(), /^to a file$/m);
  assert.is(told.digest, digest);
  assert.is(told.place, '1000:2000 /bin');
});

test('a pod without a token gets one that the wrapper alone knows of', async () => {
  const spec = { automountServiceAccountToken: false };
  const told = await toldBy(await start({ name: 'no-token', spec }));
  assert.is(told.digest, digest);
  assert.not.ok(told.child.has('SVC_SA_TOKEN_PATH'));
  const securityContext = { runAsUser: 1000 };
  const other = await start({ name: 'no-token-user', spec: { ...spec, securityContext } });
  assert.is((await toldBy(other)).digest, digest);
});

test('an init container by name has its secret before the application starts', async () => {
  const annotations = { ...asked, 'svc/containers': 'migrate,app' };
  const spec = {
    initContainers: [app({ name: 'first' }), app({ name: 'migrate', args: ['up'] })],
    containers: [app()],
  };
  const pod = await start({ name: 'init', annotations, spec });
  assert.is((await toldBy(pod)).digest, digest);
  const migrated = await toldBy(pod, 'migrate');
  assert.equal([migrated.digest, migrated.argv], [digest, ['/bin/app', 'up']]);
  assert.is((await toldBy(pod, 'first')).digest, digestOf(''), 'one that is not named has none');
});

test('several containers, one of which has 8081 to itself', async () => {
  const stays = [{ name: 'APP_STAYS', value: 'true' }];
  const web = app({
    name: 'web',
    command: ['/bin/busybox', 'httpd', '-f', '-p', '8081', '-h', '/bin'],
    ports: [{ containerPort: 8081 }],
  });
  const spec = { containers: [app({ env: stays }), app({ name: 'worker', env: stays }), web] };
  const pod = await start({ name: 'several', spec });
  const answer = async (port: number, path: string) => (await pod.get(port, path)).stdout;
  for (const [name, port] of Object.entries({ app: 8082, worker: 8083, web: 8084 })) {
    await whenReady(pod, port, name);
    assert.match(await answer(port, '/healthz'), /"ok"|"status"/, name);
  }
  // The wrapper is ready once httpd runs, which is before httpd listens.
  await waitFor('the web server itself', async () => /APP_STAYS/.test(await answer(8081, '/app')));
  const worker = pod.container('worker');
  await waitFor('the worker', () => /^staying$/m.test(worker.output()), { details: worker.output });
  assert.is(toldIn(worker.output()).digest, digest);
});

test('probes and hooks run inside, and the application ends when the pod does', async () => {
  const seen = 'test "$OWN" = own && test -z "$PASSWORD"';
  const sh = (script: string) => ({ exec: { command: ['/bin/busybox', 'sh', '-c', script] } });
  const container = app({
    env: [
      { name: 'APP_STAYS', value: 'true' },
      { name: 'OWN', value: 'own' },
    ],
    livenessProbe: sh(seen),
    readinessProbe: sh('exit 3'),
    volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
    lifecycle: {
      postStart: sh(`${seen} && echo started >/tmp-file`),
      preStop: sh('echo hooked >/shared/file'),
    },
  });
  const volumes = [{ name: 'shared', emptyDir: {} }];
  const securityContext = { runAsUser: 0 };
  const pod = await start({ name: 'hooks', spec: { securityContext, containers: [container], volumes } });
  await whenReady(pod, 8081, 'app');
  assert.is((await pod.probe('app', 'postStart')).status, 0);
  assert.is((await pod.container('app').exec(['/bin/busybox', 'cat', '/tmp-file'])).stdout, 'started\n');
  assert.is((await pod.probe('app', 'livenessProbe')).status, 0);
  assert.is((await pod.probe('app', 'readinessProbe')).status, 3);
  for (const file of ['/proc/1/environ', '/proc/1/fd/1']) {
    const { status, stderr } = await pod.container('app').exec(['/bin/busybox', 'cat', file]);
    assert.is(status, 1, 'the wrapper is nobody else’s to look into');
    assert.match(stderr, /Permission denied/);
  }
  await pod.end();
  const output = await ended(pod);
  assert.is(readFileSync(join(pod.volumes.get('shared') ?? '', 'file'), 'utf8'), 'hooked\n');
  assert.match(output, /^stopped$/m);
});

test('a secrets server is believed by its names and our authority alone', async () => {
  const spec = { containers: [app({ env: [{ name: 'SVC_STARTUP_TIMEOUT', value: '3s' }] })] };
  const at = (address: string) => ({ annotations: { ...asked, 'svc/vault-address': address }, spec });
  const trusted = await start({ name: 'trusted', ...at(`https://localhost:${world.bao.port}`) });
  assert.is((await toldBy(trusted)).digest, digest);
  const foreign = await start({ name: 'foreign', ...at(stranger.url) });
  const output = await ended(foreign, 'app', 78);
  assert.match(output, /certificate/i);
  assert.not.match(stranger.logs(), /auth\/kubernetes/);
});

test('a service account that the role does not accept starts nothing', async () => {
  await world.kube.createServiceAccount({ namespace, name: 'stranger' });
  const pod = await start({ name: 'stranger', spec: { serviceAccountName: 'stranger' } });
  const output = await ended(pod, 'app', 77);
  assert.not.match(output, /^argv /m);
});

test('the token of a pod that is gone opens nothing', async () => {
  await create(world, { namespace, name: 'gone' });
  const path = `/api/v1/namespaces/${namespace}/pods/gone`;
  const { metadata } = await world.kube.must('GET', path);
  const tokens = `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`;
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'gone', uid: metadata.uid };
  const { status } = await world.kube.must('POST', tokens, { spec: { boundObjectRef } });
  const login = () =>
    world.bao.request('POST', 'auth/kubernetes/login', { role: 'app', jwt: status.token }, null);
  assert.is((await login()).status, 200);
  await world.kube.must('DELETE', path, { gracePeriodSeconds: 0 });
  await waitFor('the token to be refused', async () => (await login()).status === 403);
});

const whenReady = (pod: PodRun, port: number, name: string) =>
  waitFor(`${name} to be ready`, async () => (await pod.get(port, '/readyz')).status === 0, {
    details: () => pod.container(name).output(),
  });

test.run();
