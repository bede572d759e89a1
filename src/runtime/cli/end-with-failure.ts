import { describeFailure, formatFailure, isOclifError } from './failure.ts';
import { painter } from './terminal.ts';

/** For errors that no command has dealt with: says so on standard error and ends the process with the status. */
export function endWithFailure(error: unknown): never {
  if (isOclifError(error) && (error as NodeJS.ErrnoException).code === 'EEXIT')
    process.exit(error.oclif.exit ?? 0);
  const failure = describeFailure(error, 'svc');
  process.stderr.write(`${formatFailure(failure, painter(process.stderr, process.env))}\n`);
  if (process.env['SVC_DEBUG'] && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  process.exit(failure.exitStatus);
}
