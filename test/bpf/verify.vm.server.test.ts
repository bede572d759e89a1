import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { runCommand } from '../support/run-command.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { root } from './clang.ts';
import { checkMachine, checkObject, type Loaded, loader } from './loaded.ts';

const test = suite('BPF programs in the kernel');

/** Mounts of its own, that go with the process. */
async function loadHere(object: string): Promise<Loaded> {
  const folder = temporaryFolder('bpf-load');
  const command = [process.execPath, loader, folder.path, object];
  const { status, stdout, stderr } = await runCommand('unshare', ['--mount', ...command], root);
  await folder.remove();
  assert.is(status, 0, stderr);
  return JSON.parse(stdout) as Loaded;
}

test('those at tracepoints are verified by this kernel, by the number of their instructions', async () =>
  checkObject(await loadHere(`dist/bpf/${process.arch}/tracepoint.bpf.o`), 'tracepoint'));

test('those of all tiers are verified by Debian 6.1, by the number of their instructions', () =>
  checkMachine('linux-6.1'));

test.run();
