import { chmodSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { mappingsOf } from '../../../secrecy/support/memory-scan.ts';
import { type AgentMessage, startNodeAgent, type TestNodeAgent } from '../../../support/node-agent.ts';
import { residentWorker } from '../../../support/process-memory.ts';
import type { WrapperRun } from '../../../support/svc-wrapper.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { checkPrefix, memlock, ordinaryUser } from '../support/confined.ts';
import { type FaultyBed, startFaultyBed } from '../support/faulty-bed.ts';

checkPrefix(ordinaryUser);

const reports = suite('what the wrapper reports to the node agent');
const MiB = 1 << 20;
let bed: FaultyBed;
let folder: TemporaryFolder;
let agent: TestNodeAgent;

reports.before(async () => {
  bed = await startFaultyBed();
});
reports.before.each(async () => {
  folder = temporaryFolder('agent');
  chmodSync(folder.path, 0o755);
  const socket = join(folder.path, 'agent.sock');
  agent = await startNodeAgent({ address: `unix://${socket}` });
  chmodSync(socket, 0o777);
});
reports.after.each(async () => {
  await bed.clear();
  await agent.stop();
  await folder.remove();
});
reports.after(() => bed?.stop());

async function start(env: Record<string, string>, under: readonly string[] = []): Promise<WrapperRun> {
  const run = await bed.start({ env: { SVC_EBPF_AGENT_ADDR: agent.address, ...env }, under });
  await run.says(/^RUN/m);
  return run;
}

const leaves = process.env['SVC_RESIDENT'] !== 'true';

const messages = (method: 'Register' | 'Report'): readonly AgentMessage[] =>
  agent.requests.filter((request) => request.method === method).map(({ message }) => message);

async function report(count = 1): Promise<Record<'wrapper' | 'application' | 'secret_memory', AgentMessage>> {
  // biome-ignore lint/suspicious/noExplicitAny: messages of a test server are picked apart freely
  return (await waitFor(`report ${count}`, () => messages('Report')[count - 1])) as any;
}

/** The same from /proc, as root sees it from outside. */
function seenFromOutside(pid: number) {
  const [status, limits, smaps] = ['status', 'limits', 'smaps'].map((name) =>
    readFileSync(`/proc/${pid}/${name}`, 'latin1'),
  ) as [string, string, string];
  const limit = (name: string) => new RegExp(`^${name} +(\\S+)`, 'm').exec(limits)?.[1];
  const kilobytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024;
  const effective = BigInt(`0x${/^CapEff:\s+(\w+)/m.exec(status)?.[1]}`);
  const own = smaps.split(/^(?=[0-9a-f]+-)/m).filter((text) => /^\S+ .w.p /.test(text));
  const held = (locked: boolean) =>
    own
      .filter((text) => /^VmFlags:.* lo( |$)/m.test(text) === locked)
      .reduce((sum, text) => sum + Number(/^Anonymous: +(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024, 0);
  return {
    lockedBytes: held(true),
    unlockedBytes: held(false),
    swapped: kilobytes('VmSwap'),
    lockedSpace: kilobytes('VmLck'),
    lockLimit: limit('Max locked memory'),
    coreLimit: limit('Max core file size'),
    ipcLock: ((effective >> 14n) & 1n) === 1n,
  };
}

function assertNear(told: unknown, seen: number, what: string): void {
  assert.ok(Math.abs(Number(told ?? 0) - seen) < 3 * MiB, `${what}: ${told} told, ${seen} seen`);
}

async function assertTrue(run: WrapperRun): Promise<Awaited<ReturnType<typeof report>>> {
  const told = await report();
  const seen = seenFromOutside(residentWorker(run.pid));
  assertNear(told.wrapper['locked_bytes'], seen.lockedBytes, 'locked');
  assertNear(told.wrapper['unlocked_bytes'], seen.unlockedBytes, 'unlocked');
  assert.is(told.wrapper['swapped_bytes'] ?? '0', String(seen.swapped));
  assert.is(told.wrapper['lock_limit'] ?? 'unlimited', seen.lockLimit);
  assert.is(told.wrapper['core_limit'] ?? 'unlimited', seen.coreLimit);
  assert.is(told.wrapper['ipc_lock'] ?? false, seen.ipcLock);
  const { pid } = await run.event('application.started');
  const application = seenFromOutside(pid);
  assert.is(told.application['pid'], pid);
  assert.is(told.application['locked_bytes'] ?? '0', String(application.lockedSpace));
  assert.is(told.application['core_limit'] ?? 'unlimited', application.coreLimit);
  return told;
}

reports(
  'is true for root with the capability, and says that the secrets lie in protected memory',
  async () => {
    const run = await start({ SVC_ROTATION: 'sighup' });
    const { wrapper, secret_memory } = await assertTrue(run);
    assert.equal(
      [wrapper['lock_mode'], wrapper['dumpable'], wrapper['ipc_lock']],
      ['LOCK_MODE_ALL', false, true],
    );
    const { kind, locked, undumped } = secret_memory;
    assert.equal([kind, locked, undumped], ['SECRET_MEMORY_KIND_MEMFD_SECRET', true, true]);
    const mappings = mappingsOf(residentWorker(run.pid)).filter(({ name }) => name.startsWith('/secretmem'));
    // svc-init holds the records by a descriptor, and maps nothing of them
    if (leaves) assert.equal(mappings, []);
    else assert.ok(mappings.some(({ start: from, end }) => end - from === Number(secret_memory['bytes'])));
    assert.ok(mappings.every(({ flags }) => flags.includes('lo') && flags.includes('dd')));
  },
);

reports('is true for an ordinary user under a limit, whose lock is partial', async () => {
  const run = await start({ SVC_REQUIRE_MLOCK: 'false' }, [...memlock(8 * MiB), ...ordinaryUser]);
  const { wrapper, application } = await assertTrue(run);
  const { lock_mode, dumpable, lock_limit } = wrapper;
  const mode = leaves ? 'LOCK_MODE_ALL' : 'LOCK_MODE_PARTIAL'; // svc-init is small enough for the limit
  assert.equal([lock_mode, dumpable, lock_limit], [mode, false, String(8 * MiB)]);
  assert.is(application['dumpable'], true);
});

reports('is true without any memory to lock: anonymous, unlocked, but left out of dumps', async () => {
  const env = { SVC_REQUIRE_MLOCK: 'false', SVC_CORE_LIMIT: 'inherit' };
  const run = await start(env, [...memlock(0), ...ordinaryUser]);
  const { wrapper, secret_memory } = await assertTrue(run);
  assert.equal([wrapper['lock_mode'], wrapper['locked_bytes']], ['LOCK_MODE_NONE', undefined]);
  const { kind, locked, undumped } = secret_memory;
  assert.equal([kind, locked, undumped], ['SECRET_MEMORY_KIND_ANONYMOUS', undefined, true]);
});

reports('comes again after each relaunch, about the new process; the registration does not', async () => {
  const run = await start({ SVC_ROTATION: 'restart', RENEWAL_INTERVAL: '1s', SVC_POD_UID: 'a-pod' });
  const first = await report(1);
  await bed.kv.put('app', { KEY: 'two' });
  await run.says(/^RUN two$/m);
  const second = await report(2);
  const pids = [1, 2].map((count) => run.events('application.started')[count - 1]?.['pid']);
  assert.equal([first.application['pid'], second.application['pid']], pids);
  assert.is(messages('Register').length, 1);
  for (const message of [...messages('Register'), ...messages('Report')])
    assert.is(message['pod_uid'], 'a-pod');
  await bed.kv.put('app', { KEY: 'one' });
});

reports('that cannot be delivered changes nothing but the log', async () => {
  const run = await start({ SVC_ROTATION: 'restart', RENEWAL_INTERVAL: '1s' });
  await report(1);
  await agent.stop();
  await bed.kv.put('app', { KEY: 'two' });
  await run.says(/^RUN two$/m);
  const { level, code } = await run.event('agent.report.failed');
  assert.equal([level, code], ['warn', 'AGENT_UNAVAILABLE']);
  assert.is(run.ended, false);
  await bed.kv.put('app', { KEY: 'one' });
});

reports.run();
