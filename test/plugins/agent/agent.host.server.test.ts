import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from '../../support/http.ts';
import { probe, type SvcAgent, startSvcAgent } from '../../support/svc-agent.ts';
import { waitFor } from '../../support/wait-for.ts';
import { privateFileSystem } from './bpf/private-file-system.ts';
import { attack } from './guard/bed.ts';
import { type Registered, startRegistrar } from './registrar.ts';

/** The agent as a node runs it, on the tier that this machine gives. */
const test = suite('svc run agent');
const files = privateFileSystem();
const bpfFolder = join(files.path, 'svc');
const agents: SvcAgent[] = [];
const victims: Registered[] = [];

async function start(env: NodeJS.ProcessEnv = {}): Promise<SvcAgent> {
  const agent = await startSvcAgent({ bpfFolder, env });
  agents.push(agent);
  return agent;
}

test.after.each(async () => {
  for (const victim of victims.splice(0)) await victim.end();
  for (const agent of agents.splice(0)) await agent.stop();
});
test.after(() => files.remove());

test('says which tier the host gave and why not a higher one', async () => {
  const { started } = await start({ SVC_AGENT_REACTIVE_KILL: 'true' });
  assert.is(started['tier'], '3');
  assert.is(started['mechanism'], 'tracepoint');
  assert.is(started['enforcing'], 'true');
  assert.match(started['not_higher'] ?? '', /^lsm: .*EPERM.*; fmod_ret: .*EPERM/);
});

test('is ready on a tier that only sees, and says that it does not enforce', async () => {
  const agent = await start();
  const { status, body } = await probe(agent, '/readyz');
  assert.is(status, 200);
  assert.equal(body, {
    ...{ status: 'ready', ready: true, tier: 3, mechanism: 'tracepoint', enforcing: false },
  });
  assert.match(agent.started['reason'] ?? '', /reactiveKill is off/);
});

test('is not ready on such a tier where enforcement is required', async () => {
  const agent = await start({ SVC_AGENT_REQUIRE_ENFORCEMENT: 'true' });
  const { status, body } = await probe(agent, '/readyz');
  assert.is(status, 503);
  assert.match(JSON.stringify(body), /"ready":false,"tier":3.*reactiveKill is off/);
});

test('starts where nothing can be loaded, lives, is not ready and names the reason', async () => {
  const agent = await start({ SVC_AGENT_TIERS: '1,2' });
  assert.is((await probe(agent, '/healthz')).status, 200);
  const { status, body } = await probe(agent, '/readyz');
  assert.is(status, 503);
  const { ready, tier, reason } = body as { ready: boolean; tier: number; reason: string };
  assert.is(ready, false);
  assert.is(tier, 4);
  assert.match(reason, /No BPF program works here: lsm: .*EPERM/);
});

test('answers a registration with its tier, and counts what happens to who registered', async () => {
  const agent = await start({ SVC_AGENT_REACTIVE_KILL: 'true' });
  const victim = await register(agent);
  assert.is(victim.tier, 3);
  assert.is(victim.enforcing, true);
  assert.is(victim.registeredPid, victim.registrar);
  assert.is(attack(victim), 'killed', 'children of who registered inherit');
  // suites beside this one may look at every process, too
  const hit = await waitFor('the hit', () =>
    agent.events('hit.killed').find((line) => line['source_comm'] === 'cat'),
  );
  assert.is(hit['target_pid'], victim.pid);
  const { text } = await http(`${agent.health}/metrics`);
  assert.match(text, /svc_agent_hits_total\{road="environ",outcome="killed"\} [1-9]/);
  assert.match(text, /svc_agent_tier\{tier="tracepoint"\} 1\n/);
});

test('ends on SIGTERM while what it loaded goes on, and --unload takes that away', async () => {
  const agent = await start({ SVC_AGENT_REACTIVE_KILL: 'true' });
  const victim = await register(agent);
  assert.equal(await agent.kill('SIGTERM'), { code: 0, signal: null });
  assert.is(attack(victim), 'killed');
  assert.match(unload(), /^Unpinned \d+ programs and tables/);
  // the kernel takes programs off a moment after their last pin has gone
  await waitFor('programs that are gone', () => attack(victim) === 'read');
});

test('ends at once beside another agent, and disturbs nothing', async () => {
  const first = await start({ SVC_AGENT_REACTIVE_KILL: 'true' });
  const socket = first.address.replace('unix://', '');
  const second = await startSvcAgent({ bpfFolder, env: { SVC_AGENT_SOCKET: socket } }).catch(
    (error: Error) => error,
  );
  assert.instance(second, Error);
  assert.match((second as Error).message, /AGENT_SOCKET_IN_USE/);
  assert.is(attack(await register(first)), 'killed');
});

async function register({ address }: SvcAgent): Promise<Registered> {
  const registered = await startRegistrar(address);
  victims.push(registered);
  return registered;
}

function unload(): string {
  const entry = new URL('../../../bin/run.js', import.meta.url).pathname;
  return execFileSync(process.execPath, [entry, 'run', 'agent', '--unload', '--bpf-folder', bpfFolder], {
    encoding: 'utf8',
  });
}

test.run();
