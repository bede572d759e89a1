import { fileURLToPath } from 'node:url';
import { buildBypass } from '../../../../support/bypass/build.ts';
import { temporaryFolder } from '../../../../support/temporary.ts';
import { bootVm } from '../../../../support/vm/boot.ts';
import { guestProgram } from '../../../../support/vm/guest-program.ts';
import { PACKAGE } from '../../../../support/vm/package-files.ts';
import type { FloodPlan } from '../driver/plan.ts';
import type { FloodRecord } from './flood.ts';

const guest = (name: string) => `${PACKAGE}/test/${name}.mjs`;
const bundle = (path: string) => guestProgram(fileURLToPath(new URL(path, import.meta.url)));

const machine: FloodPlan['machine'] = {
  agent: ['/usr/bin/node', guest('agent')],
  bypass: '/opt/test/bypass',
  registrar: guest('registrar'),
  bpf: '/sys/fs/bpf',
};

/** A flood of hits in a virtual machine that has all tiers. */
export async function floodInVm(how: Omit<FloodPlan, 'machine'>): Promise<FloodRecord> {
  const folder = temporaryFolder('load');
  const plan: FloodPlan = { machine, ...how };
  try {
    const { status, records, stderr } = await bootVm({
      timeoutMs: 110_000,
      files: {
        [machine.bypass]: await buildBypass(folder.path),
        [machine.registrar]: await bundle('../../bypass/driver/registrar.ts'),
        [guest('agent')]: await bundle('../../faults/driver/agent-program.ts'),
        [guest('main')]: await bundle('../driver/main.ts'),
      },
      script: `NODE_COMPILE_CACHE=/tmp/compiled exec node ${guest('main')} '${JSON.stringify(plan)}'`,
    });
    const [record] = records as unknown as FloodRecord[];
    if (status !== 0 || record === undefined) throw new Error(`The flood ended with ${status}:\n${stderr}`);
    return record;
  } finally {
    await folder.remove();
  }
}
