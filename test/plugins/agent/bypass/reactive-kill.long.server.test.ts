import { suite } from 'uvu';
import { WITHOUT_BPF } from '../../../support/vm/types.ts';
import type { Race } from './driver/race.ts';
import { killing } from './phases.ts';
import { judgeKilled, readers } from './race.ts';
import { raceInVm, timeoutOfRace } from './run-in-vm.ts';

export const timeout = timeoutOfRace;

const test = suite('readers against reactiveKill, in a virtual machine');
let races: readonly Race[] = [];

test.before(async () => {
  races = await raceInVm(WITHOUT_BPF, [killing], readers);
});

test('0 of 500 got the secret, and each was killed and reported', () => judgeKilled(races[0], readers));

test.run();
