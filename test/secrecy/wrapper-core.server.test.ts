import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { isRunning } from '../support/is-running.ts';
import { residentWorker } from '../support/process-memory.ts';
import type { WrapperRun } from '../support/svc-wrapper.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { waitFor } from '../support/wait-for.ts';
import { fragmentSearch } from './support/fragments.ts';
import { type MappingOf, mappingsOf, scanMemory } from './support/memory-scan.ts';
import { startWrapped, type Wrapped } from './support/wrapped.ts';

const test = suite('core dumps of the wrapper');
let world: Wrapped;

test.before(async () => {
  world = await startWrapped();
  await world.write('app');
});
test.after(() => world?.stop());

const unlimited = ['prlimit', '--core=unlimited:unlimited'];
/** Without the capability, and with next to no memory to lock: then secrets lie in anonymous memory. */
const ordinary = [
  'setpriv',
  '--reuid=65534',
  '--regid=65534',
  '--clear-groups',
  '--inh-caps=-all',
  '--bounding-set=-all',
];
/** SIGABRT and SIGQUIT go to the application. */
const fatal = ['SIGSEGV', 'SIGSYS'] as const;

async function start(
  env: Record<string, string> = {},
  under: readonly string[] = unlimited,
): Promise<WrapperRun> {
  const vault = { addr: world.reach('plain').addr, token: await world.kv.token() };
  const run = await world.run(vault, { paths: ['secret/app'], env, under });
  await run.says(/RUN/);
  return run;
}

const dumps = (names: readonly string[]) => names.filter((name) => name.startsWith('core'));

/** Ends the wrapper by a signal that dumps core and says what lies in its working directory afterwards. */
async function endedBy(signal: NodeJS.Signals, env: Record<string, string>): Promise<string[]> {
  const run = await start(env);
  const { pid } = await run.event('application.started');
  const folder = readlinkSync(`/proc/${pid}/cwd`);
  run.signal(signal);
  await waitFor('its end', () => run.ended); // its outputs stay open in the application
  const left = readdirSync(folder);
  if (isRunning(pid)) process.kill(pid, 'SIGKILL');
  return dumps(left);
}

test('none is written, and with SVC_CORE_LIMIT=inherit neither, because the process is not dumpable', async () => {
  for (const signal of fatal)
    for (const env of [{}, { SVC_CORE_LIMIT: 'inherit' }])
      assert.equal(await endedBy(signal, env), [], `${signal} ${JSON.stringify(env)}`);
});

test('another process leaves one here, so that none is no chance', () => {
  if (!/^core/.test(readFileSync('/proc/sys/kernel/core_pattern', 'latin1'))) return;
  const folder = temporaryFolder('core');
  const [file = '', ...args] = [...unlimited, 'sh', '-c', 'kill -SEGV $$'];
  spawnSync(file, args, { cwd: folder.path });
  assert.is(dumps(readdirSync(folder.path)).length, 1);
  return folder.remove();
});

const limits = (pid: number) =>
  /^Max core file size +(\S+) +(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'latin1'));

test('the limit is 1 byte by default, which stops dumps into a program as well; the hard one stays', async () => {
  const usual = limits((await start()).pid);
  assert.equal([usual?.[1], usual?.[2]], ['1', 'unlimited']);
  const inherited = limits((await start({ SVC_CORE_LIMIT: 'inherit' })).pid);
  assert.equal([inherited?.[1], inherited?.[2]], ['unlimited', 'unlimited']);
});

const dumped = ({ flags }: MappingOf) => !flags.includes('dd');

test('a dump of all that may be dumped would hold nothing, even without memfd_secret', async () => {
  for (const under of [unlimited, ['prlimit', '--memlock=0', ...ordinary]]) {
    const env = { SVC_ROTATION: 'sighup', SVC_REQUIRE_MLOCK: 'false' };
    const run = await start(env, under);
    const search = fragmentSearch(world.secrets('app'));
    await waitFor('nothing', () => scanMemory(run.pid, search, dumped).found.length === 0, {
      timeoutMs: 5_000,
    });
    assert.ok(mappingsOf(run.pid).some((mapping) => !dumped(mapping)));
  }
});

test('where it is in anonymous memory, that holds it and is left out of dumps', async () => {
  // svc-init maps it, but touches no page of it
  const env = { SVC_ROTATION: 'restart', SVC_REQUIRE_MLOCK: 'false', SVC_RESIDENT: 'true' };
  const run = await start(env, ['prlimit', '--memlock=0', ...ordinary]);
  const worker = residentWorker(run.pid);
  const { found } = scanMemory(worker, fragmentSearch(world.secrets('app')), (mapping) => !dumped(mapping));
  assert.ok(
    found.some((one) => one.startsWith('token')),
    found.join('\n'),
  );
});

test.run();
