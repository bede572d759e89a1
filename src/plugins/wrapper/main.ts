import { reportFailure } from '../../runtime/component/report-failure.ts';
import { describeError } from '../../runtime/logging/describe-error.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { exitAtOnce } from '../../runtime/native/exit.ts';
import { type CrashWatch, watchCrash } from './crash.ts';
import { watchInterruption } from './interruption.ts';
import { earlyLogger } from './loggers.ts';
import { prepare } from './prepare.ts';
import { runWrapper } from './run.ts';
import { takeToken } from './token.ts';

/** The whole of `svc-wrapper`. Ends the process, or becomes the application. */
export async function main(argv: readonly string[]): Promise<void> {
  let log = earlyLogger(process.env);
  const crash = watchCrash(() => log);
  logWarnings(() => log);
  const status = await wrap(argv, crash, (configured) => {
    log = configured;
  }).catch((error: unknown) => reportFailure(log, 'start.failed', error));
  exitAtOnce(crash.status(status));
}

async function wrap(
  argv: readonly string[],
  crash: CrashWatch,
  onLogger: (log: Logger) => void,
): Promise<number> {
  const interruption = watchInterruption();
  const { token, env } = takeToken();
  const prepared = prepare(argv, env);
  if ('status' in prepared) return prepared.status;
  onLogger(prepared.log);
  return runWrapper({ ...prepared, token, interruption, crash });
}

/** Node itself would write them by `process.stderr`, which makes a pipe non-blocking for the application as well. */
function logWarnings(log: () => Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => log().warn('node.warning', { ...describeError(warning) }));
}
