import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startFakeKube } from '../../../support/fake-kube.ts';
import { http } from '../../../support/http.ts';
import { startOperator, type TestOperator } from '../../../support/operator-channel.ts';
import { probe, type SvcAgent, startSvcAgent } from '../../../support/svc-agent.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { privateFileSystem } from '../bpf/private-file-system.ts';
import { attack } from '../guard/bed.ts';
import { type Registered, startRegistrar } from '../registrar.ts';

/** Who is told what the agent can do: its log, its probes, its metrics, who registers, and the operator. */
const test = suite('everybody is told which tier is in force');

const files = privateFileSystem();
let operator: TestOperator;
const started: { stop(): Promise<void> }[] = [];
const victims: Registered[] = [];

test.before(async () => {
  operator = await startOperator();
});
test.after.each(async () => {
  for (const victim of victims.splice(0)) await victim.end();
  for (const agent of started.splice(0)) await agent.stop();
});
test.after(async () => {
  await operator.stop();
  files.remove();
});

async function start(name: string, env: NodeJS.ProcessEnv): Promise<SvcAgent> {
  const { host, port } = operator.address;
  const agent = await startSvcAgent({
    bpfFolder: join(files.path, name),
    env: {
      SVC_OPERATOR_ADDR: `${host}:${port}`,
      SVC_OPERATOR_TLS_CERT: operator.tls.certPath,
      SVC_OPERATOR_TLS_KEY: operator.tls.keyPath,
      SVC_OPERATOR_TLS_CA: operator.tls.caPath,
      NODE_NAME: name,
      ...env,
    },
  });
  started.push(agent);
  return agent;
}

async function register({ address }: SvcAgent): Promise<Registered> {
  const registered = await startRegistrar(address);
  victims.push(registered);
  return registered;
}

const told = (node: string) =>
  waitFor('what the operator is told', () =>
    operator.reports.find((report) => report.node === node && report.state?.tier !== 'TIER_UNSPECIFIED'),
  );

test('on tier 3 that only sees: ready, and not enforcing', async () => {
  const agent = await start('sees', {});
  const [line] = agent.events('guard.tier');
  assert.is(line?.['tier'], 3);
  assert.match(String(line?.['passed_over']), /^lsm: .+; fmod_ret: /);
  const { status, body } = await probe(agent, '/readyz');
  assert.is(status, 200);
  assert.match(JSON.stringify(body), /"tier":3,"mechanism":"tracepoint","enforcing":false/);
  const { text } = await http(`${agent.health}/metrics`);
  assert.match(text, /svc_agent_tier\{tier="tracepoint"\} 1\n/);
  assert.match(text, /svc_agent_enforcing 0\n/);
  const { tier, enforcing } = await register(agent);
  assert.equal({ tier, enforcing }, { tier: 3, enforcing: false });
  const { state } = await told('sees');
  assert.is(state.tier, 'TIER_TRACEPOINT');
  assert.is(state.enforcing, false);
  assert.match(state.reason, /reactiveKill is off/);
  assert.equal(
    state.passedOver.map((one: { tier: string }) => one.tier),
    ['TIER_LSM', 'TIER_FMOD_RET'],
  );
});

test('where nothing works: not ready with the reason, alive, and covering nobody', async () => {
  const agent = await start('nothing', { SVC_AGENT_TIERS: '1,2' });
  const { status, body } = await probe(agent, '/readyz');
  assert.is(status, 503);
  const { ready, tier, reason } = body as Record<string, unknown>;
  assert.equal({ ready, tier }, { ready: false, tier: 4 });
  assert.match(String(reason), /^No BPF program works here: lsm: .+; fmod_ret: /);
  assert.is((await probe(agent, '/healthz')).status, 200);
  const victim = await register(agent);
  assert.is(victim.enforcing, false);
  assert.is(attack(victim), 'read');
  const { state } = await told('nothing');
  assert.is(state.tier, 'TIER_NONE');
  assert.is(state.enforcing, false);
  assert.match(state.reason, /^No BPF program works here/);
});

test('in an incident: audit mode wins over killing, and the log says so', async () => {
  const agent = await start('incident', { SVC_AGENT_ENFORCE: 'false', SVC_AGENT_REACTIVE_KILL: 'true' });
  const [line] = agent.events('guard.tier');
  assert.match(String(line?.['reason']), /enforceMode: false.*overrides reactiveKill: true/);
  assert.is((await probe(agent, '/readyz')).status, 200);
  assert.is(attack(await register(agent)), 'read');
});

test('without privileges: not ready with the reason, and alive to be asked', async () => {
  const folder = temporaryFolder('unprivileged');
  const operator_ = {
    ...{ SVC_OPERATOR_ADDR: undefined, SVC_OPERATOR_TLS_CERT: undefined },
    ...{ SVC_OPERATOR_TLS_KEY: undefined, SVC_OPERATOR_TLS_CA: undefined },
  };
  try {
    const agent = await startSvcAgent({
      bpfFolder: join(files.path, 'unprivileged'),
      env: { ...operator_, HOME: folder.path, SVC_AGENT_SOCKET: '/run/svc-unprivileged/agent.sock' },
      under: ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', '--inh-caps=-all'],
    });
    started.push(agent);
    const { status, body } = await probe(agent, '/readyz');
    assert.is(status, 503);
    assert.match(JSON.stringify(body), /No BPF program works here.*permitted|permission denied/i);
    assert.match(JSON.stringify(body), /cannot listen on/);
    assert.is((await probe(agent, '/healthz')).status, 200);
  } finally {
    await folder.remove();
  }
});

test('a labelled pod that the kernel does not hold is told as such, whatever its label says', async () => {
  const kube = await startFakeKube();
  const folder = temporaryFolder('told');
  try {
    kube.put('web', { uid: 'cccccccc-aaaa-4bbb-8ccc-0123456789ab' });
    const kubeconfig = join(folder.path, 'kubeconfig');
    const named = (name: string, what: object) => [{ name: 'test', [name]: what }];
    const config = {
      ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'test' },
      clusters: named('cluster', { server: kube.url, 'insecure-skip-tls-verify': true }),
      users: named('user', { token: 'token' }),
      contexts: named('context', { cluster: 'test', user: 'test' }),
    };
    writeFileSync(kubeconfig, JSON.stringify(config));
    const agent = await start('empty', { KUBECONFIG: kubeconfig, SVC_CGROUP_ROOT: folder.path });
    const pod = await waitFor(
      'the pod to be told',
      () =>
        operator.reports.findLast(({ node, state }) => node === 'empty' && state?.pods.length > 0)?.state
          .pods[0],
    );
    assert.equal([pod.labelled, pod.covered], [true, false]);
    assert.match(pod.uncoveredReason, /There is no cgroup v2 at/);
    const { body } = await probe(agent, '/readyz');
    assert.is((body as Record<string, unknown>)['pods_covered'], 0);
  } finally {
    await kube.stop();
    await folder.remove();
  }
});

test('of attempts, without anything of the environment', async () => {
  const agent = await start('kills', { SVC_AGENT_REACTIVE_KILL: 'true' });
  const victim = await register(agent);
  assert.is(attack(victim), 'killed');
  const ofNode = () => operator.reports.filter(({ node }) => node === 'kills');
  await waitFor('the hit to be told', () => ofNode().some(({ hits }) => hits.length > 0));
  // written before it was told, and read from a pipe: who reads the one has not read the other yet
  await waitFor('the log line', () => agent.events('hit.killed').length > 0, { details: agent.output });
  const { text } = await http(`${agent.health}/metrics`);
  const everything = [agent.output(), text, JSON.stringify(ofNode())];
  for (const said of everything) {
    assert.match(said, /environ/i, 'it tells of the attempt');
    assert.not.ok(said.includes(victim.secret));
  }
});

test.run();
