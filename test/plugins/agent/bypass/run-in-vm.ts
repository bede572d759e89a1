import { fileURLToPath } from 'node:url';
import { buildBypass } from '../../../support/bypass/build.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { bootAgainWhenStuck } from '../../../support/vm/boot-again.ts';
import { GUEST_NODE, guestProgram } from '../../../support/vm/guest-program.ts';
import { PACKAGE } from '../../../support/vm/package-files.ts';
import { DEFAULT_MACHINE, MACHINES, type VmOptions } from '../../../support/vm/types.ts';
import type { Phase, Plan } from './driver/plan.ts';
import type { Race } from './driver/race.ts';
import type { DriverRecord } from './driver/records.ts';

const source = (name: string) => fileURLToPath(new URL(`./driver/${name}`, import.meta.url));
const longestMs = 240_000;
/** For a file that runs it. Reached only when something hangs: alone on a machine it takes half a minute. */
export const timeoutOfFile = 2 * longestMs + 20_000;
/** A thousand readers are a thousand processes, half of them with threads that spin. */
const longestRaceMs = 900_000;
export const timeoutOfRace = 2 * longestRaceMs + 20_000;
const main = `${PACKAGE}/test/main.mjs`;

export const guestMachine: Plan['machine'] = {
  bypass: '/opt/test/bypass',
  registrar: `${PACKAGE}/test/registrar.mjs`,
  svc: `${PACKAGE}/bin/run.js`,
  bpf: '/sys/fs/bpf',
  own: true,
};

/** Another one than the usual, with fewer processors, or more time for it. */
export type Machine = Pick<VmOptions, 'machine' | 'timeoutMs' | 'processors'>;

/** What a program of the driver's says in a machine that is booted with those security modules. */
async function bootFor(
  options: Omit<VmOptions, 'script'>,
  program: string,
  phases: readonly Phase[],
  args = '',
): Promise<readonly unknown[]> {
  const folder = temporaryFolder('bypass');
  const plan: Plan = { machine: guestMachine, phases };
  const { architecture } = MACHINES[options.machine ?? DEFAULT_MACHINE];
  // Node 22, which the package has for arm64, loads its fetch at the first look at it: without WebAssembly it ends
  const node = architecture === 'arm64' ? 'node' : GUEST_NODE;
  try {
    const { status, records, stderr } = await bootAgainWhenStuck({
      timeoutMs: longestMs,
      modules: true,
      ...options,
      files: {
        [guestMachine.bypass]: await buildBypass(folder.path, architecture),
        [guestMachine.registrar]: await guestProgram(source('registrar.ts')),
        [main]: await guestProgram(source(program)),
        '/opt/test/plan.json': Buffer.from(JSON.stringify(plan)),
      },
      // the second start of the same program finds it compiled
      script: `NODE_COMPILE_CACHE=/tmp/compiled exec ${node} ${main} /opt/test/plan.json ${args}`,
    });
    if (status !== 0) throw new Error(`The driver ended with ${status}:\n${stderr}`);
    return records;
  } finally {
    await folder.remove();
  }
}

/** Has the driver carry the phases out. */
export async function runInVm(lsm: readonly string[], phases: readonly Phase[], machine: Machine = {}) {
  return (await bootFor({ lsm, ...machine }, 'main.ts', phases)) as readonly DriverRecord[];
}

/** Races of `count` readers, in each phase. */
export async function raceInVm(lsm: readonly string[], phases: readonly Phase[], count: number) {
  return (await bootFor(
    { lsm, timeoutMs: longestRaceMs },
    'race-main.ts',
    phases,
    String(count),
  )) as readonly Race[];
}
