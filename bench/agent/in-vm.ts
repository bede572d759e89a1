import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { tierNames } from '../../src/runtime/protocols/protection/report.ts';
import type { Machine } from '../../test/plugins/agent/bypass/driver/plan.ts';
import { buildBypass } from '../../test/support/bypass/build.ts';
import { temporaryFolder } from '../../test/support/temporary.ts';
import { bootVm } from '../../test/support/vm/boot.ts';
import { guestProgram } from '../../test/support/vm/guest-program.ts';
import { PACKAGE } from '../../test/support/vm/package-files.ts';
import { WITH_BPF, WITHOUT_BPF } from '../../test/support/vm/types.ts';
import { buildFloor } from './floor.ts';
import type { CostExtent, CostPlan, CostRecord, KernelTier } from './plan.ts';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const main = `${PACKAGE}/test/cost.mjs`;
const floor = '/opt/test/floor.bpf.o';
const longestMs = 900_000;

const machine: Machine = {
  bypass: '/opt/test/bypass',
  registrar: `${PACKAGE}/test/registrar.mjs`,
  svc: `${PACKAGE}/bin/run.js`,
  bpf: '/sys/fs/bpf',
  own: true,
};

/** Measures in a virtual machine that is booted for that tier. A nanosecond there is an instruction. */
export async function measureInVm(tier: KernelTier, how: CostExtent): Promise<readonly CostRecord[]> {
  const folder = temporaryFolder('agent-cost');
  const object = `${PACKAGE}/dist/bpf/${process.arch}/${tierNames[tier]}.bpf.o`;
  const plan: CostPlan = { tier, machine, object, floor, ...how };
  try {
    const { status, records, stderr } = await bootVm({
      lsm: tier === 1 ? WITH_BPF : WITHOUT_BPF,
      timeoutMs: longestMs,
      countsInstructions: true,
      files: {
        [machine.bypass]: await buildBypass(folder.path),
        [floor]: await buildFloor(tier, folder.path),
        [machine.registrar]: await guestProgram(at('../../test/plugins/agent/bypass/driver/registrar.ts')),
        [main]: await guestProgram(at('guest.ts')),
        '/opt/test/plan.json': Buffer.from(JSON.stringify(plan)),
      },
      script: `NODE_COMPILE_CACHE=/tmp/compiled exec node ${main} /opt/test/plan.json`,
    });
    if (status !== 0) throw new Error(`The measuring of tier ${tier} ended with ${status}:\n${stderr}`);
    return records as unknown as readonly CostRecord[];
  } finally {
    await folder.remove();
  }
}

/** Measures on this machine, whatever else it does meanwhile. */
export async function measureHere(
  how: CostExtent,
  files: { readonly path: string },
): Promise<readonly CostRecord[]> {
  const { measureKernelCost } = await import('./kernel-cost.ts');
  const folder = temporaryFolder('agent-cost');
  const records: CostRecord[] = [];
  const root = at('../..');
  try {
    const plan: CostPlan = {
      tier: 3,
      machine: {
        bypass: await buildBypass(folder.path),
        registrar: at('../../test/plugins/agent/bypass/driver/registrar.ts'),
        svc: join(root, 'bin/run.js'),
        bpf: files.path,
        own: false,
      },
      object: join(root, 'dist/bpf', process.arch, `${tierNames[3]}.bpf.o`),
      floor: await buildFloor(3, folder.path),
      ...how,
    };
    await measureKernelCost(plan, (record) => records.push(record));
    return records;
  } finally {
    await folder.remove();
  }
}
