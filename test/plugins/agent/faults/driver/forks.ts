import { waitFor } from '../../../../support/wait-for.ts';
import { metric } from './agent.ts';
import type { Bench } from './bench.ts';
import { coveredPids } from './tables.ts';

export interface ForksRecord {
  readonly children: number;
  readonly before: number;
  readonly after: number;
  /** What the programs had no room for, by the agent's metrics. */
  readonly lost: number;
  readonly milliseconds: number;
}

const loop =
  'read line; i=0; while [ $i -lt "$1" ]; do ( : ); i=$((i+1)); done; echo "{\\"done\\":true}"; read line';

/** A covered process has many children that live for a moment. */
export async function forks({ machine, agent, covered }: Bench, children: number): Promise<ForksRecord> {
  const { place } = await covered();
  const shell = await place.start('/bin/sh', ['-c', loop, 'sh', String(children)]);
  const before = coveredPids(machine).length;
  const began = performance.now();
  shell.send('go');
  await shell.next();
  const milliseconds = Math.round(performance.now() - began);
  await waitFor('the table to be as before', () => coveredPids(machine).length <= before, {
    timeoutMs: 15_000,
  }).catch(() => undefined);
  const after = coveredPids(machine).length;
  await shell.kill();
  const lost = await metric(agent, 'svc_agent_lost_total{what="processes"}');
  return { children, before, after, lost, milliseconds };
}
