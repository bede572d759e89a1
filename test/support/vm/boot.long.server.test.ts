import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { requireTool } from '../../testbed/ensure.ts';
import { temporaryFolder } from '../temporary.ts';
import { bootVm } from './boot.ts';
import { guestProgram } from './guest-program.ts';
import { PACKAGE } from './package-files.ts';
import { type VmOptions, WITH_BPF, WITHOUT_BPF } from './types.ts';

const test = suite('virtual machine');

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

async function checkMachine(lsm: readonly string[], active: string): Promise<void> {
  const path = `${PACKAGE}/test/probe.mjs`;
  const files = { [path]: await guestProgram(fixture('probe.ts')) };
  const { status, records, stderr } = await bootVm({ lsm, files, script: `exec node ${path}` });
  assert.is(status, 0, stderr);
  const { release = '' } = (await requireTool('kernel')).bins;
  assert.equal(records, [
    {
      kernel: readFileSync(release, 'utf8'),
      lsm: active,
      node: process.version,
      mounts: ['bpf', 'cgroup2', 'securityfs', 'tracefs'],
      loopback: '127.0.0.1',
      libbpf: 1,
      ownProcessId: true,
      processors: 2,
    },
  ]);
}

function failure(options: VmOptions): Promise<string> {
  return bootVm(options).then(
    () => 'the machine did what it was to fail at',
    (error: Error) => error.message,
  );
}

test('has BPF among its security modules, Node, libbpf and ffi-rs', () =>
  checkMachine(WITH_BPF, 'lockdown,capability,landlock,yama,bpf'));

test('can do without BPF among its security modules', () =>
  checkMachine(WITHOUT_BPF, 'lockdown,capability,landlock,yama'));

test('carries out everything that the script says, also when something of it runs on', async () => {
  const script = `(seq 20000 | sed 's/^/{"n":/; s/$/}/') & seq 20000 >&2; wait; sleep 1000 & exit 3`;
  const { status, records, stderr } = await bootVm({ script });
  assert.is(status, 3);
  const numbers = Array.from({ length: 20_000 }, (_, index) => index + 1);
  assert.equal(
    records.map(({ n }) => n),
    numbers,
  );
  assert.equal(stderr.trim().split('\n').map(Number), numbers);
});

test('keeps what the kernel says where it is asked to, from its first line on', async () => {
  const folder = temporaryFolder('console');
  const keepConsole = join(folder.path, 'kept.log');
  const { console } = await bootVm({ script: 'echo said > /dev/kmsg', keepConsole });
  const kept = readFileSync(keepConsole, 'utf8').replaceAll('\r', '');
  await folder.remove();
  assert.match(kept, /Linux version .*said/s);
  assert.is(console, kept);
});

test('runs the built svc, and containers', async () => {
  const { runc = '' } = (await requireTool('runc')).bins;
  const result = await bootVm({
    files: { '/opt/test/container.sh': fixture('container.sh') },
    programs: [runc],
    script: 'svc --version && sh /opt/test/container.sh',
  });
  assert.is(result.stderr, '');
  assert.match(result.stdout, /^svc\/\S+ linux-x64 node-v\S+\nin a container\n0::\/kubepods\/pod1\/one\n$/);
  assert.is(result.status, 0);
});

test('tells of a panic with what the kernel and the script said', async () => {
  const message = await failure({ script: 'echo last words >&2; echo c > /proc/sysrq-trigger' });
  assert.match(message, /^The virtual machine's kernel panicked: .*sysrq triggered crash\n--- console\n/);
  assert.match(message, /sysrq_handle_crash.*--- stderr\nlast words$/s);
});

test('tells of a machine that goes off too early, or not at all', async () => {
  assert.match(await failure({ script: 'poweroff -f' }), /^The virtual machine went off before its script/);
  const hanging = failure({ script: 'echo started; sleep 1000', timeoutMs: 100 });
  assert.match(await hanging, /^The virtual machine was still running after 100 ms/);
});

test.run();
