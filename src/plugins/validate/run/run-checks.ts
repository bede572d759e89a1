import { concurrently } from '../../../runtime/lifecycle/concurrently.ts';
import type { Check, CheckContext } from '../contract.ts';
import type { Checked } from '../make-report.ts';
import { runCheck } from './run-check.ts';

const atATime = 8;

/**
 * Runs all, whatever comes of some; results in order. An interruption rejects it when what checks created is removed.
 * @param onDone told how many are done
 */
export async function runChecks(
  checks: readonly Check[],
  context: CheckContext,
  onDone: (done: number) => void,
): Promise<readonly Checked[]> {
  let done = 0;
  const running: Promise<Checked>[] = [];
  const one = async (check: Check): Promise<Checked> => {
    const result = await runCheck(check, context);
    done += 1;
    onDone(done);
    return { check, result };
  };
  try {
    return await concurrently(checks, atATime, (check) => {
      const started = one(check);
      running.push(started);
      return started;
    });
  } finally {
    await Promise.allSettled(running);
  }
}
