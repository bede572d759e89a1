import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Child, launch } from '../support/child.ts';
import { cleanEnv } from '../support/clean-env.ts';
import { dockerTarget } from '../support/dockerfile.ts';
import { family } from '../support/process-memory.ts';
import { waitFor } from '../support/wait-for.ts';

export const idle = true;
export const slow = true;

const test = suite('no debugger by SIGUSR1');
const root = fileURLToPath(new URL('../..', import.meta.url));
const nowhere = 'http://127.0.0.1:1';
const tokens = { VAULT_ADDR: nowhere, VAULT_TOKEN: 's.not-a-real-token', SVC_STARTUP_TIMEOUT: '60s' };
/** Where a debugger would listen; workers of a process take those that follow. */
const port = 20_000 + 10 * (process.pid % 1_000);
const keys = { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'secret-of-the-test' };
const proxy = ['run', 'proxy', '--listen', '127.0.0.1:0', '--health', '127.0.0.1:0', '--upstream', nowhere];

interface Program {
  readonly args: readonly string[];
  /** What it writes when it is far enough. */
  readonly says: RegExp;
}

const programs: Readonly<Record<string, Program>> = {
  'bin/run.js run proxy': { args: ['bin/run.js', ...proxy], says: /"event":"listening"/ },
  'dist/main.js run proxy': { args: ['dist/main.js', ...proxy], says: /"event":"listening"/ },
  'workers of the proxy': { args: ['bin/run.js', ...proxy, '--workers', '2'], says: /"workers":"2"/ },
  'bin/svc-wrapper.js': { args: ['bin/svc-wrapper.js', '--', 'true'], says: /"event":"starting"/ },
  'dist/wrapper.cjs': { args: ['dist/wrapper.cjs', '--', 'true'], says: /"event":"starting"/ },
};

const environment = () =>
  cleanEnv({
    ...{ ...tokens, ...keys, NODE_OPTIONS: `--inspect-port=${port}` },
    ...{ SVC_LOG_FORMAT: 'json', SVC_SECRET_PATHS: 'secret/app', HEALTH_ADDR: '' },
  });

const start = async ({ args, says }: Program): Promise<Child> => {
  const env = environment();
  const child = await launch(process.execPath, args, { env, cwd: root });
  await child.until(String(says), () => says.test(child.logs()));
  return child;
};

/** What `/proc` says of a process, or nothing of one that has ended: the wrapper's trial of svc-init is short. */
function ofProcess<T>(read: () => T, ended: T): T {
  try {
    return read();
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return ended;
    throw error;
  }
}

/** Whether it has handled the signal, blocks it, as Node does by --disable-sigusr1, or was ended by it. */
function handled(pid: number): boolean {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  // what has ended keeps its signals until somebody asks how it ended
  if (/^State:\s*Z/m.test(status)) return true;
  const bits = (field: string) => BigInt(`0x${new RegExp(`^${field}:\\s*(\\w+)`, 'm').exec(status)?.[1]}`);
  return ((bits('ShdPnd') & ~bits('SigBlk')) | bits('SigPnd')) === 0n;
}

function listeners(pid: number): string[] {
  const own = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [/^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1]];
      } catch {
        return [];
      }
    }),
  );
  const lines = readFileSync(`/proc/${pid}/net/tcp`, 'latin1').split('\n').slice(1);
  return lines
    .map((line) => line.trim().split(/\s+/))
    .flatMap((field) => (field[3] === '0A' && own.has(field[9]) ? [field[1] as string] : []));
}

/** Signals each process; whether one of them has opened a debugger's port after that. */
async function opensDebugger(child: Child): Promise<boolean> {
  const pids = family(child.pid).filter((pid) => pid !== child.pid || !child.ended);
  const listening = (pid: number) => ofProcess(() => listeners(pid).length, 0);
  const before = pids.map(listening);
  for (const pid of pids) ofProcess(() => process.kill(pid, 'SIGUSR1'), true);
  await waitFor('the signal to be handled', () => pids.every((pid) => ofProcess(() => handled(pid), true)));
  const opened = () =>
    child.logs().includes('Debugger listening') || pids.some((pid, at) => listening(pid) > (before[at] ?? 0));
  return waitFor('a debugger', opened, { timeoutMs: 700 }).then(
    () => true,
    () => false,
  );
}

for (const [name, program] of Object.entries(programs))
  test(`${name} opens none`, async () => {
    const child = await start(program);
    try {
      assert.is(await opensDebugger(child), false, child.logs());
      assert.not.ok(child.ended, `it goes on\n${child.logs()}`);
    } finally {
      await child.end('SIGKILL');
    }
  });

/** Whether Node, or somebody in its place, has a handler for SIGUSR1. */
const catches = (pid: number): boolean =>
  ((BigInt(`0x${/^SigCgt:\s*(\w+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]}`) >> 9n) &
    1n) ===
  1n;

/** Signals a program as soon as Node would open a debugger. @returns whether it opened one, which is gone by now */
async function signalEarly({ args, says }: Program): Promise<boolean> {
  const child = await launch(process.execPath, args, { env: environment(), cwd: root });
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  try {
    while (!catches(child.pid)) await new Promise(setImmediate);
    process.kill(child.pid, 'SIGUSR1');
    await child.until('its start', () => says.test(child.logs()));
    assert.not.ok(child.ended, child.logs());
    const gone = () => !listeners(child.pid).some((address) => address.endsWith(end));
    await child.until('no debugger', gone);
    return child.logs().includes('Debugger listening');
  } finally {
    await child.end('SIGKILL');
  }
}

test('what the signal opens before the first statement is closed', async () => {
  const early = [];
  for (const name of ['bin/run.js run proxy', 'bin/svc-wrapper.js'])
    for (let start = 0; start < 4; start++) early.push(await signalEarly(programs[name] as Program));
  assert.ok(early.includes(true), 'one of the signals came early enough');
});

test('Node itself does, so that this can be seen', async () => {
  const child = await start({ args: ['-e', 'console.log("up"); setInterval(() => {}, 1000)'], says: /up/ });
  try {
    assert.is(await opensDebugger(child), true);
  } finally {
    await child.end('SIGKILL');
  }
});

test('images start Node in such a way that there is no moment in which it would', () => {
  for (const target of ['operator', 'agent', 'proxy']) {
    const [node = '', flag] = dockerTarget(target).entrypoint;
    assert.match(node, /\/node$/);
    assert.is(flag, '--disable-sigusr1', target);
  }
});

test.run();
