import { fileURLToPath } from 'node:url';
import { buildBypass } from '../../../support/bypass/build.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { privateFileSystem } from '../bpf/private-file-system.ts';
import { carryOut, type DriverRecord, type Phase } from './driver/plan.ts';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Carries phases out on this machine. */
export async function runHere(phases: readonly Phase[]): Promise<readonly DriverRecord[]> {
  const folder = temporaryFolder('faults');
  const files = privateFileSystem();
  const records: DriverRecord[] = [];
  const machine = {
    agent: [process.execPath, at('../../../../bin/run.js'), 'run', 'agent'],
    bypass: await buildBypass(folder.path),
    registrar: at('../bypass/driver/registrar.ts'),
    bpf: files.path,
  };
  try {
    await carryOut({ machine, phases }, (record) => records.push(record));
    return records;
  } finally {
    files.remove();
    await folder.remove();
  }
}
