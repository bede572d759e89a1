/** `main.ts PLAN`: what is tried, as a program of its own, for machines that have no tests. */
import { carryOut, type Plan } from './plan.ts';

const [plan = ''] = process.argv.slice(2);
await carryOut(JSON.parse(plan) as Plan, (record) => process.stdout.write(`${JSON.stringify(record)}\n`));
process.exit();
