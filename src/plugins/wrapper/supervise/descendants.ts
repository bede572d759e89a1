import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { directChildren, readProcess } from '../../../runtime/native/process-table.ts';
import { sendSignal } from '../../../runtime/native/signals.ts';
import type { Children } from './children.ts';
import type { OnEvent } from './events.ts';

const { SIGTERM, SIGCONT, SIGKILL } = constants.signals;
const pollMs = 10;
/** How long a killed process may take: one that waits for a dead disk takes for ever. */
const killedWithinMs = 5000;
const everybody = -1;

/**
 * Ends whatever is left below this process: SIGTERM once, SIGKILL when the grace is over.
 * Only children are signalled, whose ids nobody else can have got meanwhile: what they leave behind becomes a child
 * itself, this process being PID 1 or a sub-reaper, and its turn comes.
 */
export async function endDescendants(children: Children, graceMs: number, onEvent: OnEvent): Promise<void> {
  const killAt = performance.now() + graceMs;
  const told = new Set<number>();
  while (children.check()) {
    const now = performance.now();
    if (now > killAt + killedWithinMs) return onEvent({ kind: 'left', pids: directChildren() ?? [] });
    for (const pid of targets()) {
      if (now >= killAt) send(pid, SIGKILL);
      else if (!told.has(pid)) terminate(pid);
      told.add(pid);
    }
    await sleep(pollMs);
  }
}

/** The last resort: what these leave behind is not seen to. */
export function killChildren(): void {
  for (const pid of targets()) send(pid, SIGKILL);
}

/** Without /proc, PID 1 can still name all at once. */
function targets(): number[] {
  return directChildren() ?? (process.pid === 1 ? [everybody] : []);
}

function terminate(pid: number): void {
  send(pid, SIGTERM);
  if (readProcess(pid)?.state === 'T') send(pid, SIGCONT);
}

function send(pid: number, signal: number): void {
  try {
    sendSignal(pid, signal);
  } catch {
    // gone, or not permitted: then it is reported as left
  }
}
