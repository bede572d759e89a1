import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { listenAt } from '../../../../src/plugins/agent/registration/start-registration.ts';
import { SvcError } from '../../../../src/runtime/errors.ts';
import { type TemporaryFolder, temporaryFolder } from '../../../support/temporary.ts';

const test = suite('socket of the agent');
let folder: TemporaryFolder;
let path: string;
const servers: Server[] = [];

test.before.each(() => {
  folder = temporaryFolder('agent-socket');
  path = join(folder.path, 'run', 'agent.sock');
});
test.after.each(async () => {
  for (const server of servers.splice(0)) server.close();
  await folder.remove();
});

/** Listens; callers get a line that names the server. */
async function agent(name: string, at = path): Promise<() => void> {
  const server = createServer((socket) => socket.on('error', () => {}).end(name));
  servers.push(server);
  return await listenAt(at, server);
}

async function whoAnswers(): Promise<string> {
  const socket = connect(path).setEncoding('utf8');
  const [name] = (await once(socket, 'data')) as [string];
  socket.destroy();
  return name;
}

async function refusal(listening: Promise<unknown>): Promise<[code: string, status: number]> {
  try {
    await listening;
  } catch (error) {
    if (error instanceof SvcError) return [error.code, error.exitStatus];
    throw error;
  }
  throw new Error('it listens');
}

const modeOf = (at: string) => lstatSync(at).mode & 0o777;

/** What a killed agent leaves: a socket that nobody listens on. */
async function leaveStale(): Promise<void> {
  mkdirSync(join(path, '..'), { recursive: true });
  const listen = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => console.log('up'))`;
  const child = spawn(process.execPath, ['-e', listen], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.ok(lstatSync(path).isSocket());
}

test('is for everybody, in a folder that only its owner changes, whatever the umask', async () => {
  for (const umask of [0, 0o077]) {
    const before = process.umask(umask);
    const remove = await agent('one');
    process.umask(before);
    assert.is(modeOf(path), 0o666);
    assert.is(modeOf(join(path, '..')), 0o755);
    remove();
  }
});

/** Looks at the path as fast as it can until told to end; prints what it saw. */
const watcher = `
  const { existsSync, lstatSync } = require('node:fs');
  const [path, end] = process.argv.slice(1);
  const seen = new Set();
  process.stdout.write('watching\\n');
  for (let ended = false; !ended; ) {
    // a look after the end, too: on a busy machine it may be the first one
    ended = existsSync(end);
    const found = lstatSync(path, { throwIfNoEntry: false });
    seen.add(found && found.ino + ' ' + found.isSocket() + ' ' + (found.mode & 0o777).toString(8));
  }
  process.stdout.write(JSON.stringify([...seen]));`;

test('takes over in one step, with its mode', async () => {
  await leaveStale();
  // number and mode: the number is given to a later socket again
  const stale = `${lstatSync(path).ino} true ${modeOf(path).toString(8)}`;
  const end = join(folder.path, 'end');
  const child = spawn(process.execPath, ['-e', watcher, path, end], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  await once(child.stdout, 'data');
  const before = process.umask(0o027);
  for (let time = 0; time < 50; time++) {
    await agent('one');
    await new Promise((resolve) => servers.pop()?.close(resolve));
  }
  process.umask(before);
  writeFileSync(end, '');
  await once(child, 'close');
  const seen = (JSON.parse(text.slice(text.indexOf('['))) as (string | null)[]).filter(
    (each) => each !== stale,
  );
  assert.ok(seen.length > 0);
  for (const each of seen) assert.match(String(each), /^\d+ true 666$/);
});

test('leaves the mode of a folder that is there', async () => {
  mkdirSync(join(path, '..'), { mode: 0o700 });
  await agent('one');
  assert.is(modeOf(join(path, '..')), 0o700);
});

test('takes the place of a dead agent', async () => {
  await leaveStale();
  await agent('one');
  assert.is(await whoAnswers(), 'one');
});

test('leaves a live agent alone', async () => {
  await agent('one');
  assert.equal(await refusal(agent('two')), ['AGENT_SOCKET_IN_USE', 69]);
  assert.is(await whoAnswers(), 'one');
});

test('never deletes what is no socket', async () => {
  mkdirSync(join(path, '..'));
  const make = [
    () => writeFileSync(path, 'precious'),
    () => symlinkSync('/dev/null', path),
    () => mkdirSync(path),
  ];
  for (const each of make) {
    each();
    const { ino } = lstatSync(path);
    assert.equal(await refusal(agent('one')), ['AGENT_SOCKET_TAKEN', 78]);
    assert.is(lstatSync(path).ino, ino);
    renameSync(path, `${path}.${ino}`);
  }
});

test('is taken away at the end', async () => {
  const remove = await agent('one');
  remove();
  assert.not(existsSync(path));
  remove();
});

test('is left when it is another agent that stands there by now', async () => {
  const remove = await agent('one');
  unlinkSync(path);
  await agent('two');
  remove();
  assert.is(await whoAnswers(), 'two');
});

test('takes the place of its own half-made socket of a crash', async () => {
  mkdirSync(join(path, '..'));
  await leaveStale();
  renameSync(path, join(path, '..', `.${process.pid}`));
  await agent('one');
  assert.is(await whoAnswers(), 'one');
});

test('says where it cannot be', async () => {
  writeFileSync(join(folder.path, 'file'), '');
  for (const at of [
    join(folder.path, 'file', 'agent.sock'),
    join(folder.path, 'x'.repeat(120), 'agent.sock'),
  ])
    assert.equal(await refusal(agent('one', at)), ['AGENT_SOCKET_FAILED', 71]);
});

test.run();
