import { suite } from 'uvu';
import type { Phase } from './driver/plan.ts';
import { judgeCollateral, judgeContainer, judgeCores } from './judge-collateral.ts';
import { judgeLeft } from './judge-repair.ts';
import { judgeSecrecy } from './judge-secrecy.ts';
import { judgeForks, judgeFull, judgeKeys } from './judge-tables.ts';
import { type Told, toldBy } from './records.ts';
import { lsmObject, runInVm, timeoutOfFile } from './vm.ts';

export const timeout = timeoutOfFile;

const test = suite('what others notice of tier 1, and its tables');

const phases: readonly Phase[] = [
  {
    ...{ phase: 'together', name: 'tier 1', mode: {} },
    steps: ['collateral', 'containers', 'keys', { forks: 500 }, 'full', 'cores'],
  },
  { phase: 'leave', mode: {}, object: lsmObject },
];

let told: Told;
test.before(async () => {
  told = toldBy(await runInVm(phases));
});

test('tools, debuggers and profilers work, and a covered process can read itself', () =>
  judgeCollateral(told.of('collateral')));

test('runc works on a container that registered', () =>
  judgeContainer(told.of('containers').registered, 'denied'));

test('runc works on a container of a covered pod', () =>
  judgeContainer(told.of('containers').byCgroup, 'denied'));

test('numbers that come again, threads that execute and leaders that end', () =>
  judgeKeys(told.of('keys'), 'denied'));

test('short-lived children leave nothing behind', () => judgeForks(told.of('forks')));

test('a full table leaves nobody uncovered', () => judgeFull(told.of('full')));

test('an unprotected process dumps its core, an agent none', () => judgeCores(told.of('cores')));

test('a tier that stops working for good is left for the next', () => judgeLeft(told.of('leave')));

for (const phase of ['tier 1', 'leave'])
  test(`nothing that agents write or expose shows an environment: ${phase}`, () =>
    judgeSecrecy(told.of('secrecy', phase)));

test.run();
