import { suite } from 'uvu';
import { WITHOUT_BPF } from '../../../support/vm/types.ts';
import type { Phase } from './driver/plan.ts';
import { judgeCollateral, judgeContainer } from './judge-collateral.ts';
import { judgeSecrecy } from './judge-secrecy.ts';
import { type Told, toldBy } from './records.ts';
import { runInVm, timeoutOfFile } from './vm.ts';

export const timeout = timeoutOfFile;

const test = suite('what others notice of tiers 2 and 3');

const steps = ['collateral', 'containers'] as const;
const phases: readonly Phase[] = [
  { phase: 'together', name: 'tier 2', mode: {}, steps },
  { phase: 'together', name: 'tier 3', mode: { tiers: [3], kill: true }, steps },
];

let told: Told;
test.before(async () => {
  told = toldBy(await runInVm(phases, { lsm: WITHOUT_BPF }));
});

for (const [phase, blocked, killed, killedInRunc] of [
  ['tier 2', 'denied', [], []],
  // Debian's ps opens the environment of every process, also where it does not show it
  ['tier 3', 'killed', ['ps aux', 'ps axe'], ['ps']],
] as const) {
  test(`tools, debuggers and profilers work, and a covered process can read itself: ${phase}`, () =>
    judgeCollateral(told.of('collateral', phase), killed));

  test(`runc works on a container that registered: ${phase}`, () =>
    judgeContainer(told.of('containers', phase).registered, blocked, killedInRunc));

  test(`runc works on a container of a covered pod: ${phase}`, () =>
    judgeContainer(told.of('containers', phase).byCgroup, blocked, killedInRunc));

  test(`nothing that agents write or expose shows an environment: ${phase}`, () =>
    judgeSecrecy(told.of('secrecy', phase)));
}

test.run();
