import { fileURLToPath } from 'node:url';
import { buildBypass } from '../../../support/bypass/build.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { bootAgainWhenStuck } from '../../../support/vm/boot-again.ts';
import { GUEST_NODE, guestProgram } from '../../../support/vm/guest-program.ts';
import { PACKAGE } from '../../../support/vm/package-files.ts';
import type { VmOptions } from '../../../support/vm/types.ts';
import { requireTool } from '../../../testbed/ensure.ts';
import type { Records, Scenario } from './driver/scenarios.ts';
import type { Plan } from './driver/scene.ts';

const main = `${PACKAGE}/test/main.mjs`;
const bypass = '/opt/test/bypass';
const asker = `${PACKAGE}/test/asker.mjs`;
const longestMs = 280_000;
/** For a file that runs it. Reached only when something hangs: alone on a machine it takes half a minute. */
export const timeoutOfFile = 2 * longestMs + 20_000;

const driver = (name: string) => guestProgram(fileURLToPath(new URL(`./driver/${name}.ts`, import.meta.url)));

/** What came of attacks in a virtual machine. @throws Error with what they wrote where one fails */
export async function attackInVm(
  tier: Plan['tier'],
  names: readonly Scenario[],
  options: Partial<VmOptions>,
): Promise<Partial<Records>> {
  const folder = temporaryFolder('attacks');
  const plan: Plan = { bypass, asker, bpf: '/sys/fs/bpf', tier };
  try {
    const { runc = '' } = (await requireTool('runc')).bins;
    const { status, records, stderr } = await bootAgainWhenStuck({
      timeoutMs: longestMs,
      ...options,
      programs: [runc],
      files: {
        [main]: await driver('main'),
        [asker]: await driver('asker'),
        [bypass]: await buildBypass(folder.path),
      },
      script: `exec ${GUEST_NODE} ${main} '${JSON.stringify(plan)}' ${names.join(',')}`,
    });
    process.stderr.write(stderr);
    if (status !== 0) throw new Error(`The driver ended with ${status}\n${stderr}`);
    return Object.fromEntries(records.map(({ name, record }) => [name, record]));
  } finally {
    await folder.remove();
  }
}
