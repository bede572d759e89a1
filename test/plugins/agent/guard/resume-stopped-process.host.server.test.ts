import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readProcess } from '../../../../src/runtime/native/processes.ts';
import { buildBypass } from '../../../support/bypass/build.ts';
import { startVictim, tryAccessPath } from '../../../support/bypass.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { waitFor } from '../../../support/wait-for.ts';
import { type Bed, createBed } from './bed.ts';

const test = suite('a process whose debugger was killed as it attached');
const folder = temporaryFolder('resume-stopped-process');
let bed: Bed;

test.before(() => {
  bed = createBed();
});
test.after(async () => {
  await bed.remove();
  await folder.remove();
});

test('goes on', async () => {
  const program = await buildBypass(folder.path);
  const guard = await bed.guard();
  const victim = await startVictim(program);
  try {
    guard.protect(victim.facts.pid);
    const { outcome } = await tryAccessPath(program, 'ptrace-attach', victim.facts);
    assert.is(outcome, 'killed');
    await waitFor('the hit', () => bed.hits.some(({ road }) => road === 'ptrace'));
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.is.not(readProcess(victim.facts.pid)?.state, 'T');
  } finally {
    await victim.end();
  }
});

test.run();
