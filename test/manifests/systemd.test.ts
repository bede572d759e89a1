import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { wrapperSettings } from '../../src/plugins/wrapper/settings.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { ToolUnavailable } from '../support/tool-unavailable.ts';

const FOLDER = fileURLToPath(new URL('../../manifests/systemd/', import.meta.url));
const UNIT = readFileSync(join(FOLDER, 'svc-app.service'), 'utf8');
const README = readFileSync(join(FOLDER, 'README.md'), 'utf8');

/** What the wrapper calls beyond what every program does; see src/runtime/native. */
const SPECIAL_CALLS = ['memfd_secret', 'mlock', 'mlock2', 'mlockall', 'munlock', 'munlockall', 'prctl'];
const MORE_CALLS = ['process_vm_readv', 'process_vm_writev', 'setrlimit', 'prlimit64', 'setpgid', 'execve'];

/** @throws ToolUnavailable where systemd is not installed */
function analyze(...args: string[]): { status: number | null; text: string } {
  const { status, stdout, stderr, error } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  if (error) throw new ToolUnavailable('systemd-analyze', error.message);
  return { status, text: stdout + stderr };
}

/** The unit with commands that exist here, as verify wants them. */
async function verify(change: (unit: string) => string = (unit) => unit) {
  const folder = temporaryFolder('systemd');
  const program = join(folder.path, 'program');
  writeFileSync(program, '');
  chmodSync(program, 0o755);
  const file = join(folder.path, 'svc-app.service');
  writeFileSync(file, change(UNIT.replace('/svc/svc-wrapper', program)));
  const result = analyze('verify', file);
  await folder.remove();
  const own = result.text.split('\n').filter((line) => line.includes('svc-app.service'));
  return { ...result, own };
}

const values = (name: string) =>
  UNIT.split('\n').flatMap((line) => (line.startsWith(`${name}=`) ? [line.slice(name.length + 1)] : []));

/** System calls of a filter group, those of groups within it included. */
function callsOf(group: string): string[] {
  const lines = analyze('syscall-filter', group).text.split('\n').slice(1);
  const words = lines.map((line) => line.trim()).filter((word) => /^[@a-z]/.test(word));
  return words.flatMap((word) => (word.startsWith('@') ? callsOf(word) : [word]));
}

const unit = suite('systemd unit');

unit('systemd finds nothing wrong with it', async () => {
  const { status, own } = await verify();
  assert.equal(own, []);
  assert.is(status, 0);
});

unit('and would have: an unknown setting and a missing command are found', async () => {
  assert.match(
    (await verify((text) => text.replace('LimitMEMLOCK', 'LimitMEMLOCKS'))).own.join(),
    /LimitMEMLOCKS/,
  );
  const missing = await verify((text) => text.replace(/ExecStart=\S+/, 'ExecStart=/not/there'));
  assert.is.not(missing.status, 0);
});

unit('its filter permits what the wrapper calls', () => {
  const permitted = values('SystemCallFilter')
    .flatMap((value) => value.split(' '))
    .flatMap((word) => (word.startsWith('@') ? callsOf(word) : [word]));
  for (const call of [...SPECIAL_CALLS, ...MORE_CALLS]) assert.ok(permitted.includes(call), call);
  assert.not.ok(
    callsOf('@system-service').includes('memfd_secret'),
    'the group holds it: no need to name it',
  );
});

unit('memory may be locked, and nothing forbids to compile code', () => {
  assert.equal(values('LimitMEMLOCK'), ['infinity']);
  assert.not.match(UNIT, /MemoryDenyWriteExecute/);
});

unit('the token comes as a credential, never in the environment', () => {
  assert.equal(values('LoadCredential').length, 1);
  assert.ok(values('Environment').includes('VAULT_TOKEN_FILE=%d/vault-token'));
  assert.not.match(UNIT, /VAULT_TOKEN=/);
});

unit('every variable that it sets is one of the wrapper, with a value that it takes', () => {
  const known = new Map(
    Object.values(wrapperSettings).map((setting) => [setting.variable as string, setting]),
  );
  for (const assignment of values('Environment')) {
    const [name = '', value = ''] = assignment.split(/=(.*)/s);
    const setting = known.get(name);
    assert.ok(setting, name);
    assert.not.throws(() => setting.parse(value), name);
  }
});

unit('its grace is shorter than the time systemd gives', () => {
  const seconds = (text = '') => Number(/^(\d+)s$/.exec(text)?.[1]);
  const grace = values('Environment').find((line) => line.startsWith('SVC_STOP_GRACE='));
  assert.ok(seconds(grace?.split('=')[1]) < seconds(values('TimeoutStopSec')[0]));
});

unit('the text beside it explains every line that is not plain confinement', () => {
  for (const name of [
    'Type',
    'ExecStart',
    'User',
    'LoadCredential',
    'LimitMEMLOCK',
    'MemorySwapMax',
    'KillMode',
  ])
    assert.ok(README.includes(`\`${name}=`), name);
  for (const line of values('Environment').map((value) => value.split('=')[0] ?? ''))
    assert.ok(line === 'VAULT_ADDR' || line === 'SVC_SECRET_PATHS' || README.includes(line), line);
});

unit.run();
