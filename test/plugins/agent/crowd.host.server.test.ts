import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { processesIn } from '../../../src/plugins/agent/pods/cover-pods.ts';
import { createCgroups, type TestCgroups } from '../../support/cgroups.ts';
import { http } from '../../support/http.ts';
import { probe, type SvcAgent, startSvcAgent } from '../../support/svc-agent.ts';
import { type TemporaryFolder, temporaryFolder } from '../../support/temporary.ts';
import { waitFor } from '../../support/wait-for.ts';
import { privateFileSystem } from './bpf/private-file-system.ts';
import { attack } from './guard/bed.ts';
import { type Registered, startRegistrar } from './registrar.ts';

export const timeout = 240_000;
const test = suite('a workload with more processes than the agent keeps for one');
/** Entries of one cgroup, and those that it forks beyond that. */
const share = 8_192;
const beyond = 200;
/** Waits for a file, forks as many processes that live on, and waits with them. */
const forker = `
import os, signal, sys, time
while not os.path.exists(sys.argv[2]):
    time.sleep(0.1)
for _ in range(int(sys.argv[1])):
    if os.fork() == 0:
        break
signal.pause()
`;

let files: ReturnType<typeof privateFileSystem>;
let folder: TemporaryFolder;
let cgroups: TestCgroups;
let agent: SvcAgent;
const registered: Registered[] = [];

test.before(async () => {
  files = privateFileSystem();
  folder = temporaryFolder('crowd');
  cgroups = createCgroups();
  const env = { SVC_AGENT_REACTIVE_KILL: 'true', SVC_AGENT_CANARY_INTERVAL: '300ms' };
  agent = await startSvcAgent({ bpfFolder: join(files.path, 'svc'), env });
});

test.after(async () => {
  if (cgroups) writeFileSync(join(cgroups.root, 'cgroup.kill'), '1');
  for (const one of registered) await one.end();
  await agent?.stop();
  await cgroups?.stop();
  files?.remove();
  await folder?.remove();
});

/** A process that has registered, and its child in a cgroup of this name. */
async function register(name: string, command?: readonly string[]): Promise<Registered> {
  const one = await startRegistrar(agent.address, command);
  registered.push(one);
  writeFileSync(join(cgroups.root, name, 'cgroup.procs'), String(one.pid));
  return one;
}

async function metric(name: string): Promise<number> {
  const { text } = await http(`${agent.health}/metrics`);
  return Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);
}

test('has its share of the table, is covered beyond it by its cgroup, and leaves room for others', async () => {
  const id = cgroups.make('crowded');
  const signal = join(folder.path, 'fork');
  cgroups.make('other');
  const crowd = await register('crowded', ['python3', '-c', forker, String(share + beyond), signal]);
  const inside = () => processesIn(join(cgroups.root, 'crowded'));
  writeFileSync(signal, '');
  await waitFor('the processes', () => inside().length > share + beyond, { timeoutMs: 120_000 });
  const last = inside().at(-1) as number;
  assert.is(attack({ ...crowd, pid: last }), 'killed', 'one beyond, by its parents and its cgroup');
  const told = await waitFor('the log line', () => agent.events('pod.crowded')[0]);
  assert.is(told['cgroup'], String(id));
  assert.is(await metric('svc_agent_crowded_cgroups'), 1);
  const { body } = await probe(agent, '/healthz');
  assert.match(JSON.stringify(body), new RegExp(`cgroup ${id}: It has had more than ${share} processes`));
  process.kill(crowd.pid, 'SIGKILL');
  await waitFor('the end of the parent', () => !inside().includes(crowd.pid));
  assert.is(attack({ ...crowd, pid: last }), 'killed', 'by its cgroup alone');
  assert.ok((await metric('svc_agent_protected_processes')) < share + 100);
  const other = await register('other');
  assert.is(attack(other), 'killed');
  assert.is(await metric('svc_agent_lost_total\\{what="processes"\\}'), 0);
});

test('has its share again when its processes have ended', async () => {
  writeFileSync(join(cgroups.root, 'crowded', 'cgroup.kill'), '1');
  await waitFor('the end of the processes', () => processesIn(join(cgroups.root, 'crowded')).length === 0, {
    timeoutMs: 60_000,
  });
  await waitFor('room', async () => (await metric('svc_agent_crowded_cgroups')) === 0, { timeoutMs: 90_000 });
  assert.not.match(JSON.stringify((await probe(agent, '/healthz')).body), /crowded/);
});

test.run();
