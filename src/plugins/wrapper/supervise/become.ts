import { setImmediate as turn } from 'node:timers/promises';
import { execute } from '../../../runtime/native/execute.ts';
import { NativeError } from '../../../runtime/native/native-error.ts';
import { cannotExecute, findProgram } from '../../../runtime/native/program.ts';
import { resetSignals } from '../../../runtime/native/signals.ts';
import { inherited, type Launch, withStrings } from './launch.ts';

/**
 * Replaces the wrapper by the application, which keeps its process id (SVC_EXEC). A signal meanwhile is not lost:
 * what was caught before is delivered to its listener, what comes later acts on the process by default.
 * @param interrupted aborted by a listener that wants the wrapper to end: nothing is started then
 * @throws SvcError exit 127 (not found), 126 (cannot be run), 78 (a NUL in argument or variable); the reason of
 * `interrupted`; all is as before then
 */
export async function becomeApplication(launch: Launch, interrupted?: AbortSignal): Promise<never> {
  const file = findProgram(launch.file);
  const restoreSignals = resetSignals();
  try {
    await deliverCaught();
    interrupted?.throwIfAborted();
    return withStrings(launch, (strings) => execute({ file, ...strings, inherit: inherited(launch) }));
  } catch (error) {
    restoreSignals();
    throw error instanceof NativeError && error.call === 'execve' ? cannotExecute(launch.file, error) : error;
  }
}

/** The first turn ends the current round of the event loop, the second one waits for a whole round. */
async function deliverCaught(): Promise<void> {
  await turn();
  await turn();
}
