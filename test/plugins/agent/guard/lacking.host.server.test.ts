import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { startSvcAgent } from '../../../support/svc-agent.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { privateFileSystem } from '../bpf/private-file-system.ts';

const test = suite('tier 3 on a kernel without the tracepoint of memory that is locked');
const root = fileURLToPath(new URL('../../../..', import.meta.url));
const tracepoint = 'mmap_lock_start_locking';

/** The built package, but that its programs ask for a tracepoint that no kernel has. */
function packageThatAsksForMore(folder: string): void {
  for (const part of ['bin', 'dist', 'proto', 'package.json', 'oclif.manifest.json']) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const object = join(folder, 'dist/bpf', process.arch, 'tracepoint.bpf.o');
  const bytes = readFileSync(object, 'latin1');
  assert.ok(bytes.includes(tracepoint));
  writeFileSync(object, bytes.replaceAll(tracepoint, tracepoint.replace(/.$/, 'X')), 'latin1');
}

test('goes on without it, enforces, and says what it cannot do', async () => {
  const [folder, files] = [temporaryFolder('package'), privateFileSystem()];
  try {
    packageThatAsksForMore(folder.path);
    const agent = await startSvcAgent({
      bpfFolder: join(files.path, 'svc'),
      entry: join(folder.path, 'bin/run.js'),
      env: { SVC_AGENT_TIERS: '3', SVC_AGENT_REACTIVE_KILL: 'true' },
    });
    const { started } = agent;
    await agent.kill('SIGTERM');
    await agent.stop();
    assert.is(started['tier'], '3');
    assert.is(started['enforcing'], 'true');
    assert.match(started['not_higher'], /^tracepoint: Multi-threaded readers .* memory_locking .* ENOENT$/);
  } finally {
    files.remove();
    await folder.remove();
  }
});

test.run();
