import type { Hit } from '../../../core/protection/hit.ts';
import { readProcess } from '../../../runtime/native/process-table.ts';

/** The kernel detaches a debugger as it ends, and leaves what it had attached to stopped. */
const untilDetachedMs = 100;

/**
 * Has a process go on that was stopped for a debugger which was killed as it attached. Where the agent's PIDs are not
 * the host's, nothing is found.
 */
export function letGoOn({ road, outcome, target }: Hit): void {
  if (road !== 'ptrace' || outcome !== 'killed') return;
  setTimeout(() => resume(target.pid), untilDetachedMs).unref();
}

function resume(pid: number): void {
  if (readProcess(pid)?.state !== 'T') return;
  try {
    process.kill(pid, 'SIGCONT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
