import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const MAIN = fileURLToPath(new URL('./fixtures/json-main.ts', import.meta.url));
const base = suite('base command');

function run(args: string[], env: Record<string, string> = {}) {
  const options = { env: { PATH: process.env['PATH'], ...env }, encoding: 'utf8', timeout: 30_000 } as const;
  return spawnSync(process.execPath, [MAIN, ...args], options);
}

const outcome = (args: string[]) => {
  const { stdout, stderr, status } = run([...args, '--json']);
  return { json: JSON.parse(stdout), stderr, status };
};

base('shows a result as an object under --json', () => {
  assert.equal(outcome(['fine']), { json: { way: 'fine' }, stderr: '', status: 0 });
});

base('shows an error with code and next step as an object, once, and ends with its status', () => {
  const json = { error: { code: 'AWAY', message: 'Nobody is there.', nextStep: 'Wait.' } };
  assert.equal(outcome(['told']), { json, stderr: '', status: 69 });
});

base('shows no argv in the object of a usage error', () => {
  const { json, status } = outcome(['fine', '--token=argv-marker']);
  assert.is(status, 2);
  assert.equal(Object.keys(json), ['error']);
  assert.equal(Object.keys(json.error).sort(), ['code', 'message', 'nextStep']);
  assert.is(json.error.code, 'USAGE');
  assert.is(json.error.message, 'Nonexistent flag: --token');
});

base('says on standard error what went wrong and what comes next', () => {
  const { stdout, stderr, status } = run(['told']);
  assert.is(stderr, 'Error: Nobody is there. (AWAY)\nNext:  Wait.\n');
  assert.is(stdout, '');
  assert.is(status, 69);
});

base('asks for a report of a defect, and shows the stack under SVC_DEBUG only', () => {
  const { stderr, status } = run(['broken']);
  assert.is(status, 70);
  assert.match(stderr, /^Error: it is broken \(INTERNAL\)\nNext: .*report/);
  assert.not.match(stderr, /json-main\.ts/);
  assert.match(run(['broken'], { SVC_DEBUG: '1' }).stderr, /json-main\.ts/);
});

base('lets a command end with a status of its own', () => {
  const { stdout, stderr, status } = run(['status']);
  assert.equal([stdout, stderr, status], ['', '', 4]);
});

base.run();
