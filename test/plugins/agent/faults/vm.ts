import { fileURLToPath } from 'node:url';
import { buildBypass } from '../../../support/bypass/build.ts';
import { temporaryFolder } from '../../../support/temporary.ts';
import { bootAgainWhenStuck } from '../../../support/vm/boot-again.ts';
import { guestProgram } from '../../../support/vm/guest-program.ts';
import { PACKAGE } from '../../../support/vm/package-files.ts';
import type { VmOptions } from '../../../support/vm/types.ts';
import { requireTool } from '../../../testbed/ensure.ts';
import type { DriverRecord, Phase } from './driver/plan.ts';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const guest = (name: string) => `${PACKAGE}/test/${name}.mjs`;

/** Bundles of the guest, by name. */
const programs = {
  main: './driver/main.ts',
  agent: './driver/agent-program.ts',
  registrar: '../bypass/driver/registrar.ts',
  container: '../fixtures/registrar.ts',
};
const bypass = '/opt/test/bypass';
/** Alone on two processors a machine is done in a quarter of it. */
const longestMs = 280_000;
export const timeoutOfFile = 2 * longestMs + 20_000;
const tools = ['/usr/bin/ps', '/usr/bin/top'];
/** The programs of tier 1. */
export const lsmObject = `${PACKAGE}/dist/bpf/x64/lsm.bpf.o`;

/** Carries phases out in a virtual machine. @throws Error with what it wrote where it fails */
export async function runInVm(
  phases: readonly Phase[],
  options: Partial<VmOptions> = {},
): Promise<readonly DriverRecord[]> {
  const folder = temporaryFolder('faults');
  try {
    const { runc = '' } = (await requireTool('runc')).bins;
    const bundles = Object.entries(programs).map(
      async ([name, path]) => [guest(name), await guestProgram(at(path))] as const,
    );
    const result = await bootAgainWhenStuck({
      timeoutMs: longestMs,
      ...options,
      programs: [runc, ...tools],
      files: {
        ...Object.fromEntries(await Promise.all(bundles)),
        [bypass]: await buildBypass(folder.path),
        '/lib/terminfo/d/dumb': '/lib/terminfo/d/dumb',
      },
      script: `NODE_COMPILE_CACHE=/tmp/cache exec node ${guest('main')} '${JSON.stringify({ machine, phases })}'`,
    });
    process.stderr.write(result.stderr);
    if (result.status !== 0) throw new Error(`The driver ended with ${result.status}\n${result.stderr}`);
    return result.records as unknown as DriverRecord[];
  } finally {
    await folder.remove();
  }
}

const machine = {
  agent: ['/usr/bin/node', guest('agent')],
  ...{ bypass, registrar: guest('registrar'), bpf: '/sys/fs/bpf' },
};
