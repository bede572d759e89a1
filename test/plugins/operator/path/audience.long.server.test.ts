import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { waitFor } from '../../../support/wait-for.ts';
import { digestOf, toldIn } from './application.ts';
import { allowRole } from './key-server.ts';
import type { PodRun } from './kubelet/kubelet.ts';
import { asked, type PodText, run } from './pods.ts';
import { startWorld, type World } from './world.ts';

export const idle = true;

export const timeout = 300_000;
const test = suite('tokens with an audience, before the API server and the secrets server');
const SECRET = 'for-this-audience-alone';
const audience = 'https://vault.example';
const other = 'https://another.example';

let world: World;
let namespace: string;
const pods: PodRun[] = [];

test.before(async () => {
  world = await startWorld({ values: { operator: { tokenAudience: audience } } });
  await world.kv.put('app', { PASSWORD: SECRET });
  namespace = await world.namespace();
  await allowRole(world.bao, 'bound', namespace, [world.kv.policy], audience);
  await allowRole(world.bao, 'other', namespace, [world.kv.policy], other);
});

test.after.each(async () => {
  await Promise.all(pods.splice(0).map((pod) => pod.stop()));
});

test.after(async () => {
  await world?.stop();
});

/** A pod, run to its end. */
async function start(text: Partial<PodText> & Pick<PodText, 'name'>) {
  const pod = await run(world, { namespace, ...text });
  pods.push(pod);
  const container = pod.container('app');
  const { code } = await container.exited;
  return { pod, code, output: container.output() };
}

const under = (role: string, annotations = {}) => ({
  annotations: { ...asked, 'svc/vault-role': role, ...annotations },
});

/** Audience of the token that the wrapper shows; undefined for the API server's own, `none` for no volume of ours. */
function audienceOf({ pod }: PodRun): string | undefined {
  const volume = pod.spec.volumes?.find(({ name }) => name === 'svc-wrapper-token');
  if (volume === undefined) return 'none';
  return volume.projected?.sources?.find((one) => one.serviceAccountToken)?.serviceAccountToken?.audience;
}

const tokenIn = (pod: PodRun, volume: string) =>
  readFileSync(join(pod.volumes.get(volume) ?? '', 'token'), 'utf8');

/** The volume with the token that every pod has by itself. */
const usualVolume = ({ pod }: PodRun) =>
  pod.spec.volumes?.find(({ name }) => name.startsWith('kube-api-access-'))?.name ?? '';

const atApiServer = async (token: string) =>
  (await world.kube.request('GET', '/api', undefined, { token })).status;

async function login(role: string, jwt: string): Promise<number> {
  return (await world.bao.request('POST', 'auth/kubernetes/login', { role, jwt }, null)).status;
}

test('a token for the audience of the chart opens the secrets server, and nothing at the API server', async () => {
  const { pod, code, output } = await start({ name: 'chart', ...under('bound') });
  assert.is(code, 0, output);
  assert.is(toldIn(output).digest, digestOf(SECRET));
  assert.is(audienceOf(pod), audience);
  const shown = tokenIn(pod, 'svc-wrapper-token');
  assert.is(await login('bound', shown), 200);
  assert.is(await atApiServer(shown), 401);
  const usual = tokenIn(pod, usualVolume(pod));
  assert.is(await atApiServer(usual), 200, 'the token that every pod has');
  assert.is(await login('bound', usual), 403, 'is for another audience');
});

test('an annotation, and a ServiceConfig, name another audience than the chart', async () => {
  await world.kube.apply({
    ...{ apiVersion: 'svc.io/v1alpha1', kind: 'ServiceConfig', metadata: { name: 'shop', namespace } },
    spec: {
      selector: { matchLabels: { app: 'shop' } },
      ...{ vault: { role: 'other', tokenAudience: other }, secretPaths: ['secret/app'] },
    },
  });
  const path = `/apis/svc.io/v1alpha1/namespaces/${namespace}/serviceconfigs/shop`;
  await waitFor('the ServiceConfig to be in force', async () => {
    const { status } = await world.kube.must('GET', path);
    return status?.conditions?.some(
      (one: { type: string; status: string }) => one.type === 'Ready' && one.status === 'True',
    );
  });
  const annotated = { name: 'annotated', ...under('other', { 'svc/token-audience': other }) };
  const selected = { name: 'selected', labels: { app: 'shop' }, annotations: {} };
  for (const text of [annotated, selected]) {
    const { pod, code, output } = await start(text);
    assert.is(code, 0, output);
    assert.is(toldIn(output).digest, digestOf(SECRET));
    assert.is(audienceOf(pod), other);
    assert.is(await atApiServer(tokenIn(pod, 'svc-wrapper-token')), 401);
  }
});

test('a role refuses a token for another audience, and the application does not start', async () => {
  const { pod, code, output } = await start({ name: 'wrong', ...under('other') });
  assert.is(audienceOf(pod), audience);
  assert.is(code, 77, output);
  assert.not.match(output, /^argv /m);
});

test('a role without an audience takes a token for any', async () => {
  const { pod, code, output } = await start({ name: 'unbound', ...under('app') });
  assert.is(code, 0, output);
  assert.is(audienceOf(pod), audience);
  assert.is(await login('app', tokenIn(pod, usualVolume(pod))), 200);
});

test('without the value the token is the API server’s own, which a role with an audience refuses', async () => {
  const [former] = world.cluster.replicas;
  await world.cluster.add({ env: { SVC_OPERATOR_TOKEN_AUDIENCE: undefined } });
  await former?.end('SIGTERM');
  const { pod, code, output } = await start({ name: 'usual', ...under('app') });
  assert.is(code, 0, output);
  assert.is(toldIn(output).digest, digestOf(SECRET));
  assert.is(audienceOf(pod), 'none');
  assert.is(await atApiServer(tokenIn(pod, usualVolume(pod))), 200);
  const refused = await start({ name: 'refused', ...under('bound') });
  assert.is(refused.code, 77, refused.output);
  assert.not.match(refused.output, /^argv /m);
});

test.run();
