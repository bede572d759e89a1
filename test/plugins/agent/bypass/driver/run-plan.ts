import { listAccessPaths } from '../../../../support/bypass/attempt.ts';
import type { Plan } from './plan.ts';
import type { DriverRecord } from './records.ts';
import { runPhase } from './run-phase.ts';

/** Attack paths that the wrapper closes, not the agent. */
export const wrapperPaths = ['core-pipe', 'cmdline-setproctitle'];

/**
 * Carries a plan out; the record `end` comes last, and only when nothing failed.
 * @param say is told where it is, for whoever looks at a machine that hangs
 */
export async function runPlan(
  { machine, phases }: Plan,
  tell: (record: DriverRecord) => void,
  say: (text: string) => void = () => {},
): Promise<void> {
  const paths = (await listAccessPaths(machine.bypass)).filter(({ path }) => !wrapperPaths.includes(path));
  for (const phase of phases) await runPhase(machine, phase, paths, { tell, say });
  tell({ kind: 'end', phases: phases.length });
}
