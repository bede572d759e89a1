import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { armAccessPath } from '../../../support/bypass/attempt.ts';
import { probe, type SvcAgent, startSvcAgent } from '../../../support/svc-agent.ts';
import { startWrapper, type WrapperRun } from '../../../support/svc-wrapper.ts';
import type { Stoppable } from '../../../support/types.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { attack } from '../guard/bed.ts';
import { type KeyServer, startKeyServer } from './support/key-server.ts';
import type { Machine } from './support/machine.ts';
import { thisMachine } from './support/this-machine.ts';

/** What the built wrapper makes of what the agent gives on this machine. */
const test = suite('the wrapper with the agent of this machine');
let machine: Machine & Stoppable;
let keys: KeyServer;
const agents: SvcAgent[] = [];
const runs: WrapperRun[] = [];
const secret = 'generation-one-of-the-secret';

test.before(async () => {
  machine = await thisMachine();
  keys = await startKeyServer();
  await keys.put('app', { KEY: secret });
});
test.after.each(async () => {
  for (const run of runs.splice(0)) await run.stop();
  for (const agent of agents.splice(0)) await agent.stop();
});
test.after(async () => {
  await keys?.stop();
  await machine?.stop();
});

async function startAgent(env: Record<string, string>): Promise<SvcAgent> {
  const agent = await startSvcAgent({ bpfFolder: machine.bpfFolder, env });
  agents.push(agent);
  return agent;
}

async function start(agent: SvcAgent, env: Record<string, string> = {}): Promise<WrapperRun> {
  const run = await startWrapper({
    vault: await keys.vault(),
    paths: ['secret/app'],
    entry: machine.wrapper,
    command: ['/bin/sh', '-c', 'echo RUN; exec sleep 600'],
    env: { SVC_EBPF_AGENT_ADDR: agent.address, SVC_REQUIRE_ENFORCEMENT: 'true', ...env },
  });
  runs.push(run);
  return run;
}

/** With what asks the key server for anything counted. */
async function refusal(agent: SvcAgent): Promise<{ code: number | null; requests: number; output: string }> {
  const before = keys.requests.length;
  const run = await start(agent, { SVC_STARTUP_TIMEOUT: '60s' });
  const { code } = await run.exited;
  return { code, requests: keys.requests.length - before, output: run.output() };
}

const applicationOf = async (run: WrapperRun, count = 1) => ({
  pid: Number((await run.event('application.started', count))['pid']),
  secret,
  end: async () => undefined,
});

test('starts where readers are killed', async () => {
  const run = await start(await startAgent({ SVC_AGENT_REACTIVE_KILL: 'true' }));
  await run.says(/^RUN$/m);
  const { tier, enforcing } = await run.event('agent.registered');
  assert.equal({ tier, enforcing }, { tier: 3, enforcing: true });
  assert.is(attack(await applicationOf(run)), 'killed');
});

for (const [where, env, why] of [
  ['readers are only seen', {}, /reactiveKill is off/],
  ['the agent audits', { SVC_AGENT_ENFORCE: 'false', SVC_AGENT_REACTIVE_KILL: 'true' }, /enforceMode: false/],
  ['nothing can be loaded', { SVC_AGENT_TIERS: '1,2' }, /No BPF program works here: lsm: .*EPERM/],
] as const) {
  test(`does not start where ${where}: 71, with the reason, and nothing fetched`, async () => {
    const { code, requests, output } = await refusal(await startAgent(env));
    assert.is(code, 71, output);
    assert.match(output, why);
    assert.is(requests, 0);
  });
}

test('waits for an agent that is away, and goes on when it comes', async () => {
  const agent = await startAgent({ SVC_AGENT_REACTIVE_KILL: 'true' });
  await agent.kill('SIGKILL');
  const before = keys.requests.length;
  const run = await start(agent);
  await run.event('agent.waiting', 2);
  assert.is(keys.requests.length, before);
  await agent.restart();
  await run.says(/^RUN$/m);
  assert.is(attack(await applicationOf(run)), 'killed');
});

test('stays protected while the agent is away and after it has come back, through a restart of the application', async () => {
  const agent = await startAgent({ SVC_AGENT_REACTIVE_KILL: 'true' });
  const run = await start(agent, { SVC_ROTATION: 'restart', RENEWAL_INTERVAL: '1s' });
  await run.says(/^RUN$/m);
  const first = await applicationOf(run);
  await agent.kill('SIGKILL');
  assert.is(attack(first), 'killed', 'without an agent');
  await agent.restart();
  assert.is(attack(first), 'killed', 'with the next agent');
  await keys.put('app', { KEY: `${secret}-rotated` });
  const second = await applicationOf(run, 2);
  assert.is(attack({ ...second, secret: `${secret}-rotated` }), 'killed', 'after the rotation');
  await keys.put('app', { KEY: secret });
  assert.equal(run.events('agent.report.failed'), []);
});

test('does not start while it is traced: 77, and nothing fetched', async () => {
  const agent = await startAgent({ SVC_AGENT_REACTIVE_KILL: 'true' });
  await agent.kill('SIGKILL');
  const before = keys.requests.length;
  const run = await start(agent);
  await run.event('agent.waiting');
  const tracer = await armAccessPath(machine.bypass, 'tracer-before', { pid: run.pid, marker: secret });
  await agent.restart();
  assert.is((await run.exited).code, 77);
  await tracer.end();
  assert.match(run.output(), /is being traced; detach the debugger/);
  assert.is(keys.requests.length, before);
  assert.is((await waitFor('readiness', async () => probe(agent, '/readyz'))).status, 200);
});

test.run();
