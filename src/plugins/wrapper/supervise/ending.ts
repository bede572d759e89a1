import { type Change, signalNumber } from '../../../runtime/native/wait.ts';

/** How an application ended. */
export interface Ending {
  readonly pid: number;
  /** Its exit status, 128 + the signal's number when a signal ended it. */
  readonly exitCode: number;
  /** The signal that ended it, such as `SIGKILL`. */
  readonly signal?: string;
}

const signalBase = 128;

/** Undefined for a change that is no end. */
export function endingOf(change: Change): Ending | undefined {
  const { pid } = change;
  if (change.kind === 'exited') return { pid, exitCode: change.code };
  if (change.kind !== 'killed') return undefined;
  return { pid, exitCode: signalBase + signalNumber(change.signal), signal: change.signal };
}
