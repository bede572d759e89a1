import { chmodSync, cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ARCHITECTURES } from '../../scripts/lib/wrapper-folder/architectures.mjs';
import { debianPackages } from '../../scripts/lib/wrapper-folder/debian.mjs';
import { startOpenBao } from '../support/openbao.ts';
import { runCommand } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { ToolUnavailable } from '../support/tool-unavailable.ts';
import type { CommandResult, OpenBao } from '../support/types.ts';
import { waitFor } from '../support/wait-for.ts';
import { makeWrapperRoot } from '../support/wrapper-root.ts';

/*
 * A container whose application is root and writes the whole root file system, but for the wrapper's folder, which is mounted
 * read-only; without CAP_SYS_PTRACE, as container runtimes have it.
 */

export const timeout = 180_000;

const withoutTracing = '-sys_ptrace,-sys_admin';
const ENTER = [
  'root=$0',
  'mount -t tmpfs none "$root/svc" && cp -a "$1/." "$root/svc" && mount -o "remount,$2" "$root/svc"',
  'mount -t proc proc "$root/proc"',
  'shift 2',
  `exec setpriv --inh-caps=${withoutTracing} --bounding-set=${withoutTracing} chroot "$root" "$@"`,
].join('\n');

const folder = temporaryFolder('alone');
const at = (...names: string[]) => join(folder.path, ...names);
const test = suite('the self-contained folder in a root file system that the application writes');
let bao: OpenBao;

test.before(async () => {
  if (process.getuid?.() !== 0) throw new ToolUnavailable('chroot', 'not root');
  makeWrapperRoot(at('made'));
  for (const name of ['root/bin', 'root/etc', 'root/proc', 'root/svc', 'root/tmp'])
    mkdirSync(at(name), { recursive: true });
  chmodSync(at('root'), 0o755);
  cpSync(busybox(), at('root/bin/busybox'));
  bao = await startOpenBao();
});

test.after(async () => {
  await bao?.stop();
  await folder.remove();
});

function busybox(): string {
  const { debian } = ARCHITECTURES[process.arch as keyof typeof ARCHITECTURES];
  try {
    const { folder: programs } = debianPackages('tests', debian, { frozen: false, say: () => undefined });
    return join(programs, 'bin', 'busybox');
  } catch (error) {
    throw new ToolUnavailable('busybox-static', String(error), { cause: error });
  }
}

/** Runs a shell script as the wrapper's application. */
function wrapped(
  script: string,
  settings: Readonly<Record<string, string>> = {},
  folderMounted: 'ro' | 'rw' = 'ro',
): Promise<CommandResult> {
  const env = {
    ...{ VAULT_ADDR: bao.url, VAULT_TOKEN: bao.rootToken, HEALTH_ADDR: '', SVC_LOG_FORMAT: 'json' },
    ...{ SVC_SECRET_PATHS: 'secret/app', RENEWAL_INTERVAL: '1s' },
    ...settings,
  };
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const command = ['/svc/svc-wrapper', '--', '/bin/busybox', 'sh', '-c', script];
  const inner = ['/bin/busybox', 'env', '-i', ...variables, ...command];
  const outer = ['--mount', 'sh', '-ec', ENTER, at('root'), at('made/svc'), folderMounted];
  return runCommand('unshare', [...outer, ...inner], '/');
}

test('no Node stays, and what the application writes for loader and C library reaches no worker', async () => {
  await bao.request('POST', 'secret/data/app', { data: { PASSWORD: 'first' } });
  const script = `[ "$PASSWORD" = second ] && exit 5
    echo /no/such.so >/etc/ld.so.preload
    echo 'hosts: ../no/such' >/etc/nsswitch.conf
    /bin/busybox mkdir -p /lib /usr/lib && echo broken >/lib/libc.so.6 && echo broken >/usr/lib/libc.so.6
    echo ready >/tmp/ready
    exec /bin/busybox sleep 60`;
  const run = wrapped(script, { SVC_ROTATION: 'restart' });
  await waitFor('the application', () => existsSync(at('root/tmp/ready')));
  await bao.request('POST', 'secret/data/app', { data: { PASSWORD: 'second' } });
  const { status, stderr } = await run;
  assert.is(status, 5, stderr);
  assert.not.match(stderr, /"event":"resident"/);
  assert.not.match(stderr, /ld\.so|cannot be preloaded/);
});

test('where it writes the folder as well, the wrapper stays', async () => {
  const { status, stderr } = await wrapped('exit 4', {}, 'rw');
  assert.is(status, 4, stderr);
  assert.match(stderr, /"event":"resident","reason":"the application could replace \/svc/);
});

test.run();
