import type { CheckFailure, CheckResult, Unknown } from './contract.ts';

/** @param trusted what was believed and not seen, as a sentence */
export const passed = (note?: string, trusted?: string): CheckResult => ({
  state: 'passed',
  ...(note !== undefined && { note }),
  ...(trusted !== undefined && { trusted }),
});

export const failed = (...failures: readonly CheckFailure[]): CheckResult => ({ state: 'failed', failures });

export const skipped = (reason: string): CheckResult => ({ state: 'skipped', reason });

/** @param permission what is missing, such as `list pods` */
export const notEvaluated = (reason: string, permission?: string): CheckResult => ({
  state: 'not-evaluated',
  ...unknownBecause(reason, permission),
});

/** Failed where there are failures, otherwise passed. */
export const verdict = (failures: readonly CheckFailure[], note?: string, trusted?: string): CheckResult =>
  failures.length > 0 ? failed(...failures) : passed(note, trusted);

/**
 * Where a part could not be looked at: failed where there are failures in the rest, never passed.
 * @param permission what is missing, such as `list pods`
 */
export const verdictOnPart = (
  failures: readonly CheckFailure[],
  reason: string,
  permission?: string,
): CheckResult =>
  failures.length > 0
    ? { state: 'failed', failures, unknown: unknownBecause(reason, permission) }
    : notEvaluated(reason, permission);

const unknownBecause = (reason: string, permission: string | undefined): Unknown => ({
  reason,
  ...(permission !== undefined && { permission }),
});
