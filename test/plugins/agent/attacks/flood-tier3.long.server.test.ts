import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { buildBypass } from '../../../support/bypass/build.ts';
import { startLineProcess } from '../../../support/bypass/line-process.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { privateFileSystem } from '../bpf/private-file-system.ts';
import { metric } from '../faults/driver/agent.ts';
import { type Bench, createBench } from '../faults/driver/bench.ts';

const test = suite('a flood of hits on tier 3 without reactiveKill, on this machine');
const folder = temporaryFolder('flood');
const files = privateFileSystem();
const each = 60_000;
const [reported, lost] = [
  'svc_agent_hits_total{road="process_vm",outcome="seen"}',
  'svc_agent_lost_total{what="hits"}',
];
let bench: Bench;

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

test.before(async () => {
  bench = createBench({
    agent: [process.execPath, at('../../../../bin/run.js'), 'run', 'agent'],
    bypass: await buildBypass(folder.path),
    registrar: at('../bypass/driver/registrar.ts'),
    bpf: `${files.path}/flood`,
  });
});

test.after(async () => {
  await bench.close();
  files.remove();
  await folder.remove();
});

test('does not bring the agent off its tier, and each hit is reported or counted as lost', async () => {
  const agent = await bench.start({ tiers: [3], kill: false });
  const { pid } = (await bench.covered()).facts;
  const { bypass } = bench.machine;
  const args = (count: number) => ['attack', 'flood', '--pid', String(pid), '--each', String(count)];
  const counted = async () => (await metric(agent, reported)) + (await metric(agent, lost));
  process.kill(agent.pid, 'SIGSTOP');
  spawnSync(bypass, args(each));
  process.kill(agent.pid, 'SIGCONT');
  const flooding = await startLineProcess(bypass, args(each));
  await flooding.next();
  await waitFor('all hits to be told', async () => (await counted()) === 4 * each);
  assert.ok((await metric(agent, lost)) > 0, 'the ring was never full');
  const before = await metric(agent, reported);
  spawnSync(bypass, args(1));
  await waitFor('two more', async () => (await metric(agent, reported)) === before + 2);
  assert.is(agent.lines('guard.canary.failed').length, 0);
  assert.is(agent.lines('guard.tier').length, 1);
});

test.run();
