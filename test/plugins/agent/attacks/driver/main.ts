/** `main.ts PLAN NAMES`: attacks as a program of their own, for machines that have no tests. */
import { carryOut, type Scenario } from './scenarios.ts';
import { createScene, type Plan } from './scene.ts';

const [plan = '', names = ''] = process.argv.slice(2);
const scene = createScene(JSON.parse(plan) as Plan);
await carryOut(scene, names.split(',') as Scenario[], (name, record) => {
  process.stdout.write(`${JSON.stringify({ name, record })}\n`);
});
await scene.close();
process.exit();
