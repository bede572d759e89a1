import { fileURLToPath } from 'node:url';
import { buildBypass } from '../../../../support/bypass/build.ts';
import { temporaryFolder } from '../../../../support/temporary.ts';
import { bootVm } from '../../../../support/vm/boot.ts';
import { guestProgram } from '../../../../support/vm/guest-program.ts';
import { PACKAGE } from '../../../../support/vm/package-files.ts';
import { type VmResult, WITH_BPF, WITHOUT_BPF } from '../../../../support/vm/types.ts';
import { cacheRoot } from '../../../../testbed/cache.ts';
import { requireTool } from '../../../../testbed/ensure.ts';
import { buildGoDemo } from './go-demo.ts';
import type { Machine } from './machine.ts';
import type { ScenarioName } from './scenarios.ts';

/** Beside the sources of test/support: what these name by their own place is found in the guest as it is here. */
const PROGRAM = `${PACKAGE}/test/support/guest.mjs`;
const APPLICATION = `${PACKAGE}/test/support/application.mjs`;

/** Reached only when something hangs, or many others work on the same machine. */
export const longestMs = 280_000;

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const machine = (tier: 1 | 2): Machine => ({
  bypass: '/opt/test/bypass',
  goDemo: '/opt/test/demo',
  wrapper: ['/usr/bin/node', `${PACKAGE}/bin/svc-wrapper.js`],
  application: ['/usr/bin/node', APPLICATION],
  bpfFolder: '/sys/fs/bpf/svc',
  tier,
});

/** Runs a scenario with the built package and OpenBao in a virtual machine whose kernel gives that tier. */
export async function runInGuest(scenario: ScenarioName, tier: 1 | 2): Promise<VmResult> {
  const { bao = '' } = (await requireTool('openbao')).bins;
  const folder = temporaryFolder('guest');
  const quoted = `'${JSON.stringify(machine(tier))}'`;
  try {
    return await bootVm({
      files: {
        [PROGRAM]: await guestProgram(path('./guest.ts')),
        [APPLICATION]: await guestProgram(path('../fixtures/application.ts')),
        // the test bed reads what it would build its own tools from
        [`${PACKAGE}/tools`]: path('../../../../tools'),
        '/opt/test/bypass': await buildBypass(folder.path),
        '/opt/test/demo': await buildGoDemo(folder.path),
      },
      programs: [bao],
      script: `export SVC_TESTBED_CACHE='${cacheRoot()}'\nexec node ${PROGRAM} ${quoted} ${scenario}`,
      lsm: tier === 1 ? WITH_BPF : WITHOUT_BPF,
      memory: 3_072,
      timeoutMs: longestMs,
    });
  } finally {
    await folder.remove();
  }
}
