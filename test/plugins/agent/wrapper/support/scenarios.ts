import { runDumps } from './dumps.ts';
import type { KeyServer } from './key-server.ts';
import { type Machine, startEnforcing } from './machine.ts';
import { runOrder } from './order.ts';
import { runView } from './view.ts';

export type Tell = (record: object) => void;
export type Scenario = (machine: Machine, keys: KeyServer, tell: Tell) => Promise<void>;
export type ScenarioName = keyof typeof scenarios;

/** What is tried in virtual machines. */
export const scenarios = { order, view, dumps } satisfies Record<string, Scenario>;

/** After this no further round is begun, for the machine's time is limited. */
const enoughMs = 30_000;

/** Emulated processors take seconds for a start of the wrapper: most starts are those of applications. */
async function order(machine: Machine, keys: KeyServer, tell: Tell): Promise<void> {
  const agent = await startEnforcing(machine);
  tell({ kind: 'agent', ...agent.started });
  do tell(await runOrder({ name: 'rotations', machine, keys, agent, starts: 1, rotations: 4 }));
  while (performance.now() < enoughMs);
  await agent.stop();
}

async function view(machine: Machine, keys: KeyServer, tell: Tell): Promise<void> {
  const agent = await startEnforcing(machine);
  tell({ kind: 'agent', ...agent.started });
  tell(await runView(machine, keys, agent));
  await agent.stop();
}

async function dumps(machine: Machine, keys: KeyServer, tell: Tell): Promise<void> {
  const agent = await startEnforcing(machine);
  tell({ kind: 'agent', ...agent.started });
  tell(await runDumps(machine, keys, agent));
  await agent.stop();
}
