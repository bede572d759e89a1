import { suite } from 'uvu';
import { checkMachine } from '../loaded.ts';

export const timeout = 600_000;

const test = suite('BPF programs in further kernels');
/** Alone on a machine it takes a tenth of it. */
const longestMs = 180_000;

for (const machine of ['linux-6.12', 'linux-6.1-arm64', 'linux-6.12-arm64'] as const)
  test(`those of all tiers are verified by ${machine}`, () => checkMachine(machine, longestMs));

test.run();
