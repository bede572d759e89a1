import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { loadLibbpf } from '../../../../src/plugins/agent/bpf/libbpf.ts';
import { ownMemoryMap } from '../../../../src/runtime/native/process-lock.ts';
import { compileFixture } from './compile.ts';
import { runFixture } from './run-fixture.ts';

const counters = compileFixture('counters');
const half = compileFixture('half');
const hooked = (hook: string) => compileFixture('hooked', { HOOK: JSON.stringify(hook) });

// biome-ignore lint/suspicious/noExplicitAny: what the fixture printed
function outcome(file: string, under: readonly string[] = []): any {
  const { stdout, stderr } = runFixture('load', [file], under);
  assert.is(stderr, '', 'libbpf keeps silent');
  return JSON.parse(stdout);
}

function libbpfPath(): string {
  loadLibbpf();
  return ownMemoryMap().find(({ name }) => name.includes('/libbpf.so.'))?.name ?? '';
}

const refusals = suite('objects that are not loaded');

refusals('do not hide those that are', () => {
  assert.equal(outcome(counters), { loaded: true });
});

refusals('name the program that the verifier refuses, and its reason', () => {
  const { code, exitStatus, message, details, ...finding } = outcome(half);
  assert.equal([code, exitStatus], ['BPF_LOAD_FAILED', 71]);
  assert.equal([finding.reason, finding.subject], ['rejected', 'reads_anywhere']);
  assert.match(message, /object test \(reads_anywhere\): its verifier refuses the program \(EACCES\)/);
  assert.match(details.at(-1), /invalid mem access/);
  assert.ok(details.length <= 8);
});

refusals('say that they are not permitted', () => {
  const { reason, message, nextStep } = outcome(counters, ['setpriv', '--bounding-set=-all']);
  assert.is(reason, 'not-permitted');
  assert.match(message, /not permitted \(EPERM\)/);
  assert.match(nextStep, /CAP_BPF/);
});

refusals('name a hook that the kernel does not have', () => {
  for (const hook of ['lsm/no_such_hook', 'fmod_ret/no_such_function']) {
    const { reason, subject, message } = outcome(hooked(hook));
    assert.equal([reason, subject], ['no-hook', hook]);
    assert.match(message, /it has no such hook/);
  }
});

refusals('say that the kernel has no type information', () => {
  const under = ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /sys/kernel/btf && exec "$@"', 'sh'];
  const { reason, nextStep } = outcome(hooked('lsm/file_open'), under);
  assert.is(reason, 'no-btf');
  assert.match(nextStep, /CONFIG_DEBUG_INFO_BTF/);
});

refusals('of the upper tiers are loaded, or say why not', () => {
  for (const hook of ['lsm/file_open', 'fmod_ret/security_file_open']) {
    const { loaded, reason, nextStep } = outcome(hooked(hook));
    if (loaded) continue;
    assert.is(reason, 'not-permitted');
    assert.match(nextStep, /locked down/);
  }
});

refusals('say that libbpf is not installed', () => {
  const under = ['unshare', '-m', 'sh', '-c', 'mount --bind /dev/null "$0" && exec "$@"', libbpfPath()];
  const { code, exitStatus, nextStep } = outcome(counters, under);
  assert.equal([code, exitStatus], ['LIBBPF_UNAVAILABLE', 71]);
  assert.match(nextStep, /libbpf1/);
});

refusals.run();
