import { SvcError } from '../../core/errors.ts';
import { callInt } from './libc.ts';

/**
 * Ends the process here and now. Node's own exit would first put back the settings that the terminal had at the start,
 * and so undo what a program below has set on purpose (`stty`). Nothing that is buffered gets written.
 */
export function exitAtOnce(status: number): never {
  try {
    callInt('_exit', status);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
  }
  return process.exit(status); // no native calls here
}
