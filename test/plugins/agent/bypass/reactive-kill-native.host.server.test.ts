import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import { buildBypass } from '../../../support/bypass/build.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { privateFileSystem } from '../bpf/private-file-system.ts';
import { type Race, runRace } from './driver/race.ts';
import { killing } from './phases.ts';
import { judgeKilled, judgeUnprotected, readers } from './race.ts';

const test = suite('readers against reactiveKill, on this machine');
const few = 20;
const races: Race[] = [];

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

test.before(async () => {
  const [folder, files] = [temporaryFolder('bypass'), privateFileSystem()];
  try {
    const bypass = await buildBypass(folder.path);
    const registrar = here('./driver/registrar.ts');
    const machine = { bypass, registrar, svc: here('../../../../bin/run.js'), bpf: files.path, own: false };
    races.push(await runRace(machine, few), await runRace(machine, readers, killing.mode));
  } finally {
    files.remove();
    await folder.remove();
  }
});

test('all get the secret without an agent', () => judgeUnprotected(races[0], few));

test('0 of 500 got it, and each was killed and reported', () => judgeKilled(races[1], readers));

test.run();
