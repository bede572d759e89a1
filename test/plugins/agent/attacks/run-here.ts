import { fileURLToPath } from 'node:url';
import { buildBypass } from '../../../support/bypass/build.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { privateFileSystem } from '../bpf/private-file-system.ts';
import { carryOut, type Records, type Scenario } from './driver/scenarios.ts';
import { createScene } from './driver/scene.ts';

const asker = fileURLToPath(new URL('./driver/asker.ts', import.meta.url));

/** What came of attacks on tier 3 with reactiveKill, on this machine. */
export async function attackHere(names: readonly Scenario[]): Promise<Partial<Records>> {
  const [folder, files] = [temporaryFolder('attacks'), privateFileSystem()];
  const scene = createScene({ asker, bypass: await buildBypass(folder.path), bpf: files.path, tier: 3 });
  const told: [Scenario, Records[Scenario]][] = [];
  try {
    await carryOut(scene, names, (name, record) => told.push([name, record]));
    return Object.fromEntries(told);
  } finally {
    await scene.close();
    files.remove();
    await folder.remove();
  }
}
