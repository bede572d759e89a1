import { sleep } from '../../../runtime/lifecycle/sleep.ts';
import type { Check } from '../contract.ts';
import type { Checked } from '../make-report.ts';

const pauseMs = 3_000;

export interface Attempts {
  /** Runs these once. */
  readonly attempt: (checks: readonly Check[]) => Promise<readonly Checked[]>;
  /** Whether nothing is left to wait for. */
  readonly passes: (checked: readonly Checked[]) => boolean;
  /** Milliseconds; undefined: one attempt. */
  readonly wait: number | undefined;
  readonly signal: AbortSignal;
  /** Told before each pause. */
  readonly onPause: (checked: readonly Checked[]) => void;
}

/** Repeats what did not pass until it does or the time is over. What has passed is not asked again. */
export async function untilPassed(checks: readonly Check[], attempts: Attempts): Promise<readonly Checked[]> {
  const { attempt, passes, wait = 0, signal, onPause } = attempts;
  const end = performance.now() + wait;
  let checked = await attempt(checks);
  while (!passes(checked) && performance.now() < end) {
    onPause(checked);
    await sleep(Math.min(pauseMs, Math.max(0, end - performance.now())), signal);
    const open = checked.filter(({ result }) => result.state !== 'passed').map(({ check }) => check);
    const again = new Map((await attempt(open)).map((one) => [one.check, one]));
    checked = checked.map((one) => again.get(one.check) ?? one);
  }
  return checked;
}
