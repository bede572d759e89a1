/** `guest.ts PLAN`: the measuring as a program of its own, for a virtual machine. PLAN is a file of JSON. */
import { readFileSync } from 'node:fs';
import { measureKernelCost } from './kernel-cost.ts';
import type { CostPlan } from './plan.ts';

const [file = ''] = process.argv.slice(2);
const plan = JSON.parse(readFileSync(file, 'utf8')) as CostPlan;
await measureKernelCost(plan, (record) => process.stdout.write(`${JSON.stringify(record)}\n`));
process.exit();
