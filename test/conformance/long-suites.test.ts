import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { LONG } from '../runner/discover.ts';
import { agentKernels } from './agent-kernels.ts';
import { agentMachines } from './agent-machines.ts';
import { clients } from './clients.ts';
import { operatorFaults } from './operator-faults.ts';
import { stores } from './stores.ts';
import { testNames } from './support/long-suites.ts';
import { wrapperMachines } from './wrapper-machines.ts';

const test = suite('suites that npm test leaves out');

test('each belongs to one part of the nightly run', () => {
  const parts = [agentKernels, agentMachines, clients, operatorFaults, stores, wrapperMachines];
  const left = testNames().filter((name) => name.endsWith(LONG));
  assert.equal(parts.flatMap(({ names }) => names).sort(), left.sort());
});

test.run();
