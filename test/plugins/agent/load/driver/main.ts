/** `main.ts PLAN`: a flood of hits at the agent of a virtual machine. PLAN is JSON. */
import { createBench } from '../../faults/driver/bench.ts';
import { flood } from '../support/flood.ts';
import type { FloodPlan } from './plan.ts';

const { machine, tier, perSecond, seconds } = JSON.parse(process.argv[2] ?? '{}') as FloodPlan;
const bench = createBench(machine);
const agent = await bench.start({ tiers: [tier] });
const { facts } = await bench.covered();
const record = await flood(agent, { bypass: machine.bypass, pid: facts.pid, perSecond, seconds });
process.stdout.write(`${JSON.stringify(record)}\n`);
await bench.close();
process.exit();
