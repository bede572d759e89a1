import { fileURLToPath } from 'node:url';
import { suite } from 'uvu';
import { listAccessPaths } from '../../../support/bypass/attempt.ts';
import { buildBypass } from '../../../support/bypass/build.ts';
import type { AccessPathEntry } from '../../../support/bypass/types.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { privateFileSystem } from '../bpf/private-file-system.ts';
import type { DriverRecord } from './driver/records.ts';
import { runPlan } from './driver/run-plan.ts';
import { compareAccessPaths, declareMatrix } from './matrix.ts';
import { auditing, killing, killingByCgroup, unprotected, watching } from './phases.ts';

const test = suite('attack paths to protected processes on tier 3, on this machine');
const phases = [unprotected, killing, killingByCgroup, watching, auditing(3)];
const records: DriverRecord[] = [];
let paths: readonly AccessPathEntry[] = [];

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

test.before(async () => {
  const [folder, files] = [temporaryFolder('bypass'), privateFileSystem()];
  try {
    const bypass = await buildBypass(folder.path);
    paths = await listAccessPaths(bypass);
    const registrar = here('./driver/registrar.ts');
    const machine = { bypass, registrar, svc: here('../../../../bin/run.js'), bpf: files.path, own: false };
    await runPlan({ machine, phases }, (record) => records.push(record));
  } finally {
    files.remove();
    await folder.remove();
  }
});

test('the table has the attack paths of the program', () => compareAccessPaths(paths));

declareMatrix(test, { phases, on: 'this machine', records: () => records });

test.run();
