import { chmodSync, cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ARCHITECTURES } from '../../scripts/lib/wrapper-folder/architectures.mjs';
import { startOpenBao } from '../support/openbao.ts';
import { runCommand } from '../support/run-command.ts';
import { staticBusybox } from '../support/static-busybox.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { ToolUnavailable } from '../support/tool-unavailable.ts';
import type { CommandResult, OpenBao } from '../support/types.ts';
import { waitFor } from '../support/wait-for.ts';
import { makeWrapperRoot } from '../support/wrapper-root.ts';

/*
 * A container whose application is root and writes the whole root file system, but for the wrapper's folder, which is mounted
 * read-only, with the capabilities that container runtimes give unasked.
 */

export const timeout = 180_000;

const { triplet, loader } = ARCHITECTURES[process.arch as keyof typeof ARCHITECTURES];
const capabilities = [
  ...['-all', '+chown', '+dac_override', '+fowner', '+fsetid', '+kill', '+setgid', '+setuid', '+setpcap'],
  ...['+net_bind_service', '+net_raw', '+mknod', '+audit_write', '+setfcap'],
  // by the operator
  '+ipc_lock',
].join();
/** The host's programs are at /host, whose mount stays. */
const libraries = `/host/usr/lib/${triplet}`;
const drop = `${libraries}/${loader} --library-path ${libraries} /host/usr/bin/setpriv --inh-caps=-all --bounding-set=${capabilities}`;
const prepare = [
  'root=$0 && mount --bind "$root" "$root"',
  'mount -t tmpfs none "$root/svc" && cp -a "$1/." "$root/svc" && mount -o "remount,$2" "$root/svc"',
  'mount -t proc proc "$root/proc" && mkdir -p "$root/host" "$root/old" && mount --bind -o ro / "$root/host"',
  'shift 2',
];
/** In a changed root the kernel lets nobody make user namespaces, as seccomp of a container does not. */
const WITHOUT_NAMESPACES = [...prepare, `exec chroot "$root" ${drop} -- "$@"`].join('\n');
/** With a root of its own, as a container has it. */
const WITH_NAMESPACES = [
  ...prepare,
  'cd "$root" && pivot_root . old && cd / && /bin/busybox umount -l /old',
  `exec ${drop} -- "$@"`,
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
  cpSync(staticBusybox(), at('root/bin/busybox'));
  bao = await startOpenBao();
});

test.after(async () => {
  await bao?.stop();
  await folder.remove();
});

interface Wrapped {
  readonly settings?: Readonly<Record<string, string>>;
  readonly enter?: string;
  readonly folderMounted?: 'ro' | 'rw';
}

/** Runs a shell script as the wrapper's application. */
function wrapped(
  script: string,
  { settings = {}, enter = WITHOUT_NAMESPACES, folderMounted = 'ro' }: Wrapped = {},
): Promise<CommandResult> {
  const env = {
    ...{ VAULT_ADDR: bao.url, VAULT_TOKEN: bao.rootToken, HEALTH_ADDR: '', SVC_LOG_FORMAT: 'json' },
    ...{ SVC_SECRET_PATHS: 'secret/app', RENEWAL_INTERVAL: '1s' },
    ...settings,
  };
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const command = ['/svc/svc-wrapper', '--', '/bin/busybox', 'sh', '-c', script];
  const inner = ['/bin/busybox', 'env', '-i', ...variables, ...command];
  const outer = ['--mount', 'sh', '-ec', enter, at('root'), at('made/svc'), folderMounted];
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
  const run = wrapped(script, { settings: { SVC_ROTATION: 'restart' } });
  await waitFor('the application', () => existsSync(at('root/tmp/ready')));
  await bao.request('POST', 'secret/data/app', { data: { PASSWORD: 'second' } });
  const { status, stderr } = await run;
  assert.is(status, 5, stderr);
  assert.not.match(stderr, /"event":"resident"/);
  assert.not.match(stderr, /ld\.so|cannot be preloaded/);
});

test('where it writes the folder as well, the wrapper stays', async () => {
  const { status, stderr } = await wrapped('exit 4', { folderMounted: 'rw' });
  assert.is(status, 4, stderr);
  assert.match(stderr, /"event":"resident","reason":"the application could replace \/svc/);
});

test('where it may make user namespaces, it could take the mount away, so the wrapper stays', async () => {
  const { status, stderr } = await wrapped('exit 3', { enter: WITH_NAMESPACES });
  assert.is(status, 3, stderr);
  assert.match(stderr, /"event":"resident","reason":"the application could replace \/svc,/);
});

test('nor does it leave in a changed root that it may change again', async () => {
  const enter = WITHOUT_NAMESPACES.replace('+mknod', '+mknod,+sys_chroot');
  const { status, stderr } = await wrapped('exit 3', { enter });
  assert.is(status, 3, stderr);
  assert.match(stderr, /"event":"resident","reason":"the application could replace \/svc,/);
});

test('`localhost` of the secrets server is this machine, whatever /etc/hosts says', async () => {
  writeFileSync(at('root/etc/hosts'), '192.0.2.1 localhost\n');
  const settings = { VAULT_ADDR: bao.url.replace('127.0.0.1', 'localhost') };
  const { status, stderr } = await wrapped('exit 6', { settings });
  assert.is(status, 6, stderr);
});

test.run();
