import { fileURLToPath } from 'node:url';
import { packageFolder } from '../component/package-folder.ts';
import { describeFailure, formatFailure, isOclifError } from './failure.ts';
import { painter } from './terminal.ts';

/** For errors that no command has dealt with: says so on standard error and ends the process with the status. */
export async function endWithFailure(error: unknown): Promise<never> {
  if (isOclifError(error) && (error as NodeJS.ErrnoException).code === 'EEXIT')
    process.exit(error.oclif.exit ?? 0);
  const known = describeFailure(error, 'svc');
  const failure = known.code === 'INTERNAL' ? describeFailure(error, 'svc', await pluginThatFailed()) : known;
  process.stderr.write(`${formatFailure(failure, painter(process.stderr, process.env))}\n`);
  if (process.env['SVC_DEBUG'] && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  process.exit(failure.exitStatus);
}

async function pluginThatFailed(): Promise<string | undefined> {
  const { culprit } = await import('../plugin-host/culprit.ts');
  return culprit(process.argv.slice(2), fileURLToPath(packageFolder())).catch(() => undefined);
}
