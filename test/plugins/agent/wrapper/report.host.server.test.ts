import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createCgroups, type TestCgroups } from '../../../support/cgroups.ts';
import { type SeenReport, startOperator, type TestOperator } from '../../../support/operator-channel.ts';
import { type SvcAgent, startSvcAgent } from '../../../support/svc-agent.ts';
import { startWrapper, type WrapperRun } from '../../../support/svc-wrapper.ts';
import type { Stoppable } from '../../../support/types.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { attack } from '../guard/bed.ts';
import { type KeyServer, startKeyServer } from './support/key-server.ts';
import type { Machine } from './support/machine.ts';
import { thisMachine } from './support/this-machine.ts';

/** What the wrapper of a pod measured, at the operator. */
const test = suite('from the wrapper through the agent to the operator');
const POD = '5f6ff8ae-1111-4222-8333-0123456789ab';
const folder = `kubepods/burstable/pod${POD}/container`;
let machine: Machine & Stoppable;
let keys: KeyServer;
let operator: TestOperator;
let cgroups: TestCgroups;
let agent: SvcAgent;
let run: WrapperRun | undefined;

test.before(async () => {
  machine = await thisMachine();
  keys = await startKeyServer();
  await keys.put('app', { KEY: 'of the pod' });
  operator = await startOperator();
  cgroups = createCgroups();
  cgroups.make(folder);
  const { tls, address } = operator;
  agent = await startSvcAgent({
    bpfFolder: machine.bpfFolder,
    env: {
      SVC_AGENT_REACTIVE_KILL: 'true',
      SVC_CGROUP_ROOT: cgroups.root,
      NODE_NAME: 'node-1',
      SVC_OPERATOR_ADDR: `${address.host}:${address.port}`,
      SVC_OPERATOR_TLS_CERT: tls.certPath,
      SVC_OPERATOR_TLS_KEY: tls.keyPath,
      SVC_OPERATOR_TLS_CA: tls.caPath,
    },
  });
});
test.after.each(async () => {
  await run?.stop();
  run = undefined;
});
test.after(async () => {
  await agent?.stop();
  await cgroups?.stop();
  await operator?.stop();
  await keys?.stop();
  await machine?.stop();
});

/** In the cgroup of the pod's container. */
async function start(podUid: string, env: Record<string, string> = {}): Promise<WrapperRun> {
  run = await startWrapper({
    vault: await keys.vault(),
    paths: ['secret/app'],
    under: ['/bin/sh', '-c', 'echo 0 >"$0/cgroup.procs"; exec "$@"', `${cgroups.root}/${folder}`],
    entry: machine.wrapper,
    command: ['/bin/sh', '-c', 'echo "RUN $KEY"; exec sleep 600'],
    env: { SVC_EBPF_AGENT_ADDR: agent.address, SVC_POD_UID: podUid, ...env },
  });
  return run;
}

/** The newest state of the pod that the operator was told. */
function podAtOperator(uid: string): SeenReport | undefined {
  const states = operator.reports.map(({ state }) => state).filter(Boolean);
  return states.at(-1)?.pods.find(({ podUid }: SeenReport) => podUid === uid);
}

const measuredOf = (pid: number) =>
  podAtOperator(POD)?.processes.find((process: SeenReport) => Number(process.pid) === pid)?.measured;

async function applicationPid(wrapper: WrapperRun, count = 1): Promise<number> {
  return Number((await wrapper.event('application.started', count))['pid']);
}

test('come its pod, its measured protection and that of its application', async () => {
  const wrapper = await start(POD);
  const application = await applicationPid(wrapper);
  const measured = await waitFor('the measured protection', () => measuredOf(wrapper.pid), {
    details: () => `${wrapper.output()}\n${JSON.stringify(operator.reports.at(-1))}`,
  });
  const logged = await wrapper.event('protection');
  assert.is(Number(measured.wrapper.lockedBytes), logged['locked_bytes']);
  assert.is(measured.wrapper.lockMode, 'LOCK_MODE_ALL');
  assert.is(measured.wrapper.dumpable, false);
  assert.is(Number(measured.wrapper.coreLimit), 1);
  assert.is(Number(measured.application.pid), application);
  assert.is(Number(measured.application.coreLimit), 1);
  assert.is(measured.secretMemory.kind, 'SECRET_MEMORY_KIND_MEMFD_SECRET');
  assert.is(measured.secretMemory.locked, true);
  assert.is(measured.delivery, 'DELIVERY_BOTH');
  const process = podAtOperator(POD).processes.find(({ pid }: SeenReport) => Number(pid) === wrapper.pid);
  assert.is(process.registration, 'REGISTRATION_WRAPPER');
});

test('comes an attempt on its application, with the pod of the target', async () => {
  const wrapper = await start(POD);
  const pid = await applicationPid(wrapper);
  assert.is(attack({ pid, secret: 'of the pod', end: async () => undefined }), 'killed');
  const hit = await waitFor('the hit', () =>
    // suites beside this one may look at every process, too
    operator.hits.find(
      ({ source, target }: SeenReport) => Number(target?.pid) === pid && source.comm === 'cat',
    ),
  );
  assert.is(hit.outcome, 'OUTCOME_KILLED');
  assert.is(hit.target.podUid, POD);
});

test('comes the application of each restart', async () => {
  const wrapper = await start(POD, { SVC_ROTATION: 'restart', RENEWAL_INTERVAL: '1s' });
  const first = await applicationPid(wrapper);
  await waitFor('the first', () => Number(measuredOf(wrapper.pid)?.application.pid) === first);
  await keys.put('app', { KEY: 'of the pod, renewed' });
  const second = await applicationPid(wrapper, 2);
  await waitFor('the second', () => Number(measuredOf(wrapper.pid)?.application.pid) === second);
  await keys.put('app', { KEY: 'of the pod' });
});

test('comes nothing of a wrapper that names another pod: 77', async () => {
  const other = POD.replace('5', '6');
  const wrapper = await start(other);
  assert.is((await wrapper.exited).code, 77);
  assert.is(podAtOperator(other), undefined);
});

test('comes what it covers again from an agent that was restarted', async () => {
  const wrapper = await start(POD);
  await waitFor('the report', () => measuredOf(wrapper.pid));
  const before = operator.reports.length;
  await agent.kill('SIGKILL');
  await agent.restart();
  const known = () =>
    operator.reports
      .slice(before)
      .flatMap(({ state }) => state?.pods ?? [])
      .flatMap(({ processes }: SeenReport) => processes)
      .find(({ pid }: SeenReport) => Number(pid) === wrapper.pid);
  const process = await waitFor('the wrapper in the new agent’s state', known);
  assert.is(process.registration, 'REGISTRATION_INHERITED');
});

test.run();
