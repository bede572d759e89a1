/** `main.ts PLAN`: the driver as a program of its own, for machines that have no tests. PLAN is a file of JSON. */
import { readFileSync } from 'node:fs';
import type { Plan } from './plan.ts';
import { runPlan } from './run-plan.ts';

const [file = ''] = process.argv.slice(2);
const plan = JSON.parse(readFileSync(file, 'utf8')) as Plan;
await runPlan(
  plan,
  (record) => process.stdout.write(`${JSON.stringify(record)}\n`),
  (text) => process.stderr.write(`${process.uptime().toFixed(1)} ${text}\n`),
);
