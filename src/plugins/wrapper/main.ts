import { exitAtOnce } from '../../runtime/native/exit.ts';
import { watchInterruption } from './interruption.ts';
import { prepare } from './prepare.ts';
import { runWrapper } from './run.ts';
import { takeToken } from './token.ts';

/** The whole of `svc-wrapper`. Ends the process, or becomes the application. */
export async function main(argv: readonly string[]): Promise<void> {
  const interruption = watchInterruption();
  const { token, env } = takeToken();
  const prepared = prepare(argv, env);
  const status =
    'status' in prepared ? prepared.status : await runWrapper({ ...prepared, token, interruption });
  exitAtOnce(status);
}
