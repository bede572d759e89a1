/** `race-main.ts PLAN COUNT`: the race as a program of its own, of as many readers in each phase of the plan. */
import { readFileSync } from 'node:fs';
import type { Plan } from './plan.ts';
import { runRace } from './race.ts';

const [file = '', count = ''] = process.argv.slice(2);
const { machine, phases } = JSON.parse(readFileSync(file, 'utf8')) as Plan;
for (const { mode } of phases) {
  process.stdout.write(`${JSON.stringify(await runRace(machine, Number(count), mode))}\n`);
}
