/** `guest.ts MACHINE SCENARIO`: the scenarios in a virtual machine; what they say are lines of JSON. */

import { startKeyServer } from './key-server.ts';
import type { Machine } from './machine.ts';
import { type ScenarioName, scenarios } from './scenarios.ts';

const [machine = '', name = ''] = process.argv.slice(2);
const keys = await startKeyServer();
const tell = (record: object) => process.stdout.write(`${JSON.stringify({ ...record, uptime: uptime() })}\n`);
tell({ kind: 'ready' });
await scenarios[name as ScenarioName](JSON.parse(machine) as Machine, keys, tell);
await keys.stop();
tell({ kind: 'end' });
process.exit();

function uptime(): number {
  return Math.round(performance.now());
}
