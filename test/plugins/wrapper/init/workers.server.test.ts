import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { http } from '../../../support/http.ts';
import { isRunning } from '../../../support/is-running.ts';
import { commandLine, family, initProcesses } from '../../../support/process-memory.ts';
import type { WrapperRun } from '../../../support/svc-wrapper.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { countInMemory } from '../supervise/support/process-copies.ts';
import type { Bed } from '../support/bed.ts';
import {
  type ConfinedBed,
  checkPrefix,
  memlock,
  ordinaryUser,
  pidNamespace,
  startConfinedBed,
} from '../support/confined.ts';

export const idle = true;

const workers = suite('a wrapper that leaves between renewals');
const often = { RENEWAL_INTERVAL: '1s' };
const KiB = 1024;
/** Root in a container: it may read every file, but not trace. */
const rootWithoutPtrace = ['setpriv', '--inh-caps=-sys_ptrace', '--bounding-set=-sys_ptrace'];
/** Root could replace the files of this clone. */
const asked = { SVC_RESIDENT: 'false', SVC_REQUIRE_MLOCK: 'false' };
const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
const dist = fileURLToPath(new URL('../../../../dist', import.meta.url));
const attacker = fixture('reads-workers.pl');
let bed: Bed;
let confined: ConfinedBed;
let number = 0;

workers.before(async () => {
  checkPrefix(ordinaryUser, rootWithoutPtrace);
  confined = await startConfinedBed();
  bed = confined;
});
workers.after.each(() => bed?.endRuns());
workers.after(() => confined?.stop());

async function start(env: Record<string, string> = {}, command = ['/bin/sleep', '600']): Promise<WrapperRun> {
  const name = `leaving-${number++}`;
  await bed.kv.put(name, { KEY: secretValue });
  const run = await bed.run({ paths: [`secret/${name}`], command, env: { ...often, ...env } });
  await run.event('application.started');
  return run;
}

const secretValue = 'a-value-that-stands-nowhere-else-4711';

/** The worker that runs in this moment. */
const workerOf = (run: WrapperRun) =>
  family(run.pid).find((pid) => {
    const [file = '', ...words] = commandLine(pid);
    return !file.endsWith('svc-init') && words.some((word) => word.startsWith('--svc-worker'));
  });

async function metric(run: WrapperRun, name: string): Promise<number> {
  const { text } = await http(`${await run.health()}/metrics`);
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

const renewals = 'svc_wrapper_token_renewals_total{result="renewed"}';
const passes = (run: WrapperRun, result: 'ended' | 'failed') =>
  metric(run, `svc_wrapper_workers_total{result="${result}"}`);

workers('there are only svc-init and its health process, below the size that is specified', async () => {
  const run = await start({ RENEWAL_INTERVAL: '5m' });
  assert.is((await http(`${await run.health()}/healthz`)).status, 200);
  const processes = initProcesses(run.pid);
  assert.is(processes.length, 2);
  assert.is(workerOf(run), undefined);
  const sum = (field: string) =>
    processes
      .map((pid) => readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))
      .reduce(
        (total, text) => total + Number(new RegExp(`^${field}: +(\\d+) kB`, 'm').exec(text)?.[1]) * KiB,
        0,
      );
  assert.ok(sum('Private_Dirty') <= 512 * KiB, `${sum('Private_Dirty')} bytes of its own`);
  assert.ok(sum('Rss') <= 5_000_000, `${sum('Rss')} bytes resident`);
});

workers('one comes for each renewal, and leaves', async () => {
  const run = await start();
  await waitFor('two passes', async () => (await passes(run, 'ended')) >= 2);
  assert.ok((await metric(run, renewals)) >= 1);
  assert.is(await passes(run, 'failed'), 0);
  assert.is(await metric(run, 'svc_wrapper_application_up'), 1);
});

workers('neither token nor values stand in the memory that can be read of what stays', async () => {
  const run = await start({ SVC_ROTATION: 'sighup' });
  await waitFor('a pass', async () => (await passes(run, 'ended')) >= 1);
  for (const pid of initProcesses(run.pid)) {
    assert.is(countInMemory(pid, Buffer.from(secretValue)), 0);
    assert.is(countInMemory(pid, Buffer.from('"client_token"')), 0);
    const descriptors = readdirSync(`/proc/${pid}/fd`).length;
    assert.ok(descriptors <= 9, `${descriptors} descriptors`);
  }
});

const memfdRule = '/proc/sys/vm/memfd_noexec';

/** In a PID namespace whose processes may execute a memfd only if that was asked for (1), or never (2). */
async function startUnderRule(rule: 1 | 2): Promise<WrapperRun> {
  const under = [...pidNamespace, 'sh', '-c', `echo ${rule} > ${memfdRule} && exec "$@"`, 'sh'];
  const command = ['/bin/sleep', '600'];
  const run = await confined.confined(under, { paths: ['secret/app'], command, env: often });
  await run.event('application.started');
  return run;
}

/** A library that this Node is linked with. */
const mappedLibrary = (name: string): string =>
  new RegExp(`/\\S*/${name}\\S*`).exec(readFileSync('/proc/self/maps', 'latin1'))?.[0] ?? '';

workers('where the application could replace what workers load or trust, the wrapper stays', async () => {
  const folder = temporaryFolder('authorities');
  const VAULT_CACERT = join(folder.path, 'ca.pem');
  copyFileSync(bed.bao.caFile as string, VAULT_CACERT);
  chownSync(VAULT_CACERT, 65_534, 65_534);
  chmodSync(folder.path, 0o755);
  const env = { ...often, SVC_REQUIRE_MLOCK: 'false' };
  const options = { paths: ['secret/app'], command: ['/bin/sleep', '600'] };
  const safe = await confined.confined(ordinaryUser, { ...options, env });
  await waitFor('a pass', async () => (await passes(safe, 'ended')) >= 1);
  const open = await confined.confined(ordinaryUser, { ...options, env: { ...env, VAULT_CACERT } });
  await open.event('application.started');
  assert.match(String((await open.event('resident'))['reason']), /could replace .*ca\.pem/);
  const LD_PRELOAD = join(folder.path, 'libm.so');
  copyFileSync(mappedLibrary('libm.so'), LD_PRELOAD);
  chownSync(LD_PRELOAD, 65_534, 65_534);
  const library = await confined.confined(ordinaryUser, { ...options, env: { ...env, LD_PRELOAD } });
  assert.match(String((await library.event('resident'))['reason']), /could replace .*libm\.so/);
  const later = { ...env, LD_PRELOAD: join(folder.path, 'own', 'later.so') };
  mkdirSync(join(folder.path, 'own'));
  chownSync(join(folder.path, 'own'), 65_534, 65_534);
  const missing = await confined.confined(ordinaryUser, { ...options, env: later });
  assert.match(String((await missing.event('resident'))['reason']), /files that LD_PRELOAD names/);
  const sticky = join(folder.path, 'sticky'); // its entries are safe from others, and anybody may add one
  for (const name of ['wrapper.cjs', 'init'])
    cpSync(join(dist, name), join(sticky, name), { recursive: true });
  symlinkSync(join(dist, '../node_modules'), join(folder.path, 'node_modules'));
  chmodSync(sticky, 0o1777);
  const entry = [process.execPath, join(sticky, 'wrapper.cjs')];
  const beside = await confined.confined(ordinaryUser, { ...options, env, entry });
  assert.match(String((await beside.event('resident'))['reason']), /could replace .*sticky/);
  const root = await confined.confined(rootWithoutPtrace, { ...options, env });
  assert.match(String((await root.event('resident'))['reason']), /could replace/);
  await folder.remove();
});

workers('a limit of file sizes that the wrapper meets is no signal for the application', async () => {
  const limitedTo = (bytes: number) => ['prlimit', `--fsize=${bytes}:${bytes}`];
  const env = { ...often, SVC_REQUIRE_MLOCK: 'false' };
  const options = { paths: ['secret/app'], command: ['/bin/sleep', '600'] };
  // enough for what processes share, and not for a copy of svc-init
  const stays = await confined.confined(limitedTo(40 * KiB), { ...options, env });
  await stays.event('resident');
  await waitFor('a renewal', async () => (await metric(stays, renewals)) >= 1);
  // enough for svc-init, and not for the loader that a worker starts with
  const leaves = await confined.confined(limitedTo(100 * KiB), { ...options, env: { ...env, ...asked } });
  await leaves.event('worker.failed');
  for (const run of [stays, leaves]) {
    assert.equal(run.events('application.ended'), []);
    run.signal('SIGTERM');
    assert.is((await run.exited).code, 143);
  }
  const refused = await confined.confined(limitedTo(0), { ...options, env });
  assert.is((await refused.exited).code, 71);
  assert.match(String((await refused.event('start.failed'))['nextStep']), /ulimit -f/);
});

workers('where no memfd may be executed, the wrapper stays and says why', async () => {
  if (!existsSync(memfdRule)) return; // before Linux 6.3
  const run = await startUnderRule(2);
  assert.match(String((await run.event('resident'))['reason']), /cannot start workers/);
  await waitFor('a renewal', async () => (await metric(run, renewals)) >= 1);
  assert.ok(Number.isNaN(await passes(run, 'ended')), 'no worker');
});

workers('where that has to be asked for, it leaves', async () => {
  if (!existsSync(memfdRule)) return;
  const run = await startUnderRule(1);
  await waitFor('a pass', async () => (await passes(run, 'ended')) >= 1);
});

workers('one that is killed costs that pass: health tells, and the next one recovers', async () => {
  const run = await start();
  const { pid } = await run.event('application.started');
  const health = await run.health();
  const killed = await waitFor('a worker', () => workerOf(run));
  process.kill(killed, 'SIGKILL');
  assert.is((await run.event('worker.failed'))['exit_code'], 137);
  const { status, text } = await http(`${health}/healthz`);
  assert.is(status, 200);
  assert.match(text, /"degraded".*"worker"/);
  assert.is((await http(`${health}/readyz`)).status, 200);
  await waitFor('the recovery', async () => (await http(`${health}/healthz`)).text === '{"status":"ok"}\n');
  assert.ok((await passes(run, 'failed')) >= 1);
  assert.ok(isRunning(pid));
});

workers('with svc-init the application goes, and so does the health process', async () => {
  const run = await start();
  const all = family(run.pid);
  process.kill(run.pid, 'SIGKILL');
  for (const pid of all) await waitFor(`the end of ${pid}`, () => !isRunning(pid));
});

workers('a health process that is killed comes back, at the same address', async () => {
  const run = await start();
  const health = await run.health();
  const server = await waitFor('the health process', () =>
    initProcesses(run.pid).find((pid) => pid !== run.pid),
  );
  process.kill(server, 'SIGKILL');
  await run.event('health.failed');
  await waitFor(
    'its return',
    async () => (await http(`${health}/healthz`).catch(() => undefined))?.status === 200,
  );
});

workers('svc-init writes no line below SVC_LOG_LEVEL', async () => {
  const command = ['/bin/sh', '-c', 'echo RUN; exec sleep 600'];
  const run = await bed.run({ command, env: { ...often, SVC_LOG_LEVEL: 'error' } });
  await run.says(/^RUN$/m);
  const server = () => initProcesses(run.pid).find((pid) => pid !== run.pid);
  const killed = await waitFor('the health process', server);
  process.kill(killed, 'SIGKILL');
  await waitFor('its return', () => ![undefined, killed].includes(server()));
  assert.is(run.output().trim(), 'RUN');
});

workers('the health process may make no other call than it needs', async () => {
  const run = await start();
  await run.health();
  const server = await waitFor('the health process', () =>
    initProcesses(run.pid).find((pid) => pid !== run.pid),
  );
  const status = () => readFileSync(`/proc/${server}/status`, 'latin1');
  await waitFor('its filter', () => /^Seccomp:\s+2$/m.test(status()));
  assert.is(readdirSync(`/proc/${server}/fd`).length, 1);
  const parent = readFileSync(`/proc/${run.pid}/status`, 'latin1');
  const { pid } = await run.event('application.started');
  const application = readFileSync(`/proc/${pid}/status`, 'latin1');
  for (const text of [parent, application]) assert.match(text, /^Seccomp:\s+0$/m);
});

workers('answers what a health server has to', async () => {
  const health = await (await start()).health();
  const asked = async (path: string, method = 'GET') => (await http(`${health}${path}`, { method })).status;
  assert.equal(
    [
      await asked('/other'),
      await asked('/healthz', 'POST'),
      await asked('/readyz', 'HEAD'),
      await asked('/metrics?a'),
    ],
    [404, 405, 200, 200],
  );
});

workers(
  'its user cannot open the memory of a worker at any moment of its life, the first included',
  async () => {
    for (const under of [ordinaryUser, rootWithoutPtrace]) {
      const run = await confined.confined(under, {
        command: ['perl', attacker],
        env: { ...often, ...asked },
      });
      // the number is that of the process before: the health process and two workers
      const [, tried, opened] = await run.says(/(?:^worker [\s\S]*?){4}tried (\d+) opened (\d+)$/m);
      assert.ok(Number(tried) > 100, `${tried} attempts`);
      assert.is(opened, '0', `of ${tried} attempts`);
      assert.is(await passes(run, 'failed'), 0);
      await run.stop();
    }
  },
);

workers(
  'a signal of its user opens no debugger in a worker, not even before its first statement',
  async () => {
    const run = await confined.confined(ordinaryUser, {
      command: ['perl', fixture('signals-workers.pl')],
      env: { ...often, SVC_REQUIRE_MLOCK: 'false' },
    });
    await run.says(/(?:^signalled \d+$[\s\S]*?){4}/m);
    assert.not.match(run.output(), /Debugger listening/);
    await waitFor('workers that go on', async () => (await passes(run, 'ended')) >= 3);
  },
);

workers('the kernel takes a worker first when memory is short, whoever its user is', async () => {
  const score = (pid: number) => readFileSync(`/proc/${pid}/oom_score_adj`, 'latin1').trim();
  for (const under of [ordinaryUser, rootWithoutPtrace]) {
    const run = await confined.confined([...under, 'choom', '-n', '7', '--'], {
      command: ['/bin/sleep', '600'],
      env: { ...often, ...asked },
    });
    const { pid } = await run.event('application.started');
    // while it starts a worker, svc-init has the score that the worker inherits
    await waitFor('the scores of a worker, svc-init and the application', () => {
      const worker = workerOf(run);
      return worker !== undefined && [worker, run.pid, pid].map(score).join() === '1000,7,7';
    });
    await run.stop();
  }
});

workers('without memfd_secret svc-init alone holds the state, and not its health process', async () => {
  const run = await confined.confined([...memlock(0), ...ordinaryUser], {
    command: ['/bin/sleep', '600'],
    env: { ...often, SVC_REQUIRE_MLOCK: 'false' },
  });
  await waitFor('a pass', async () => (await passes(run, 'ended')) >= 1);
  const maps = initProcesses(run.pid).map((pid) =>
    readFileSync(`/proc/${pid}/maps`, 'latin1').includes('/memfd:'),
  );
  assert.equal(maps, [true, false]);
});

workers('one that is killed while the application is being restarted has it restarted once', async () => {
  const name = 'killed-meanwhile';
  await bed.kv.put(name, { KEY: 'one' });
  const slow =
    '$SIG{TERM} = sub { print "TERM\\n"; sleep 1; exit }; print "RUN $ENV{KEY}\\n"; sleep 1 while 1';
  const run = await bed.run({
    paths: [`secret/${name}`],
    command: ['perl', '-e', `$| = 1; ${slow}`],
    env: { ...often, SVC_ROTATION: 'restart' },
  });
  await run.says(/^RUN one$/m);
  await bed.kv.put(name, { KEY: 'two' });
  await run.says(/^TERM$/m);
  process.kill(workerOf(run) as number, 'SIGKILL');
  await run.says(/^RUN two$/m);
  const ended = await passes(run, 'ended');
  await waitFor('two further passes', async () => (await passes(run, 'ended')) >= ended + 2);
  assert.is(run.events('application.started').length, 2);
});

workers.run();
