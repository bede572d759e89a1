import { checkStatus, type FailOn, type Level, type Outcome } from './contract.ts';

/**
 * @param found how many findings of each level there are, shown or not
 * @param failures what fails whatever the findings are, a sentence each
 * @param unevaluated what could not be found out, a sentence each: never passed, and more than warnings
 */
export function outcomeOf(
  found: Readonly<Record<Level, number>>,
  failOn: FailOn,
  failures: readonly string[] = [],
  unevaluated: readonly string[] = [],
): Outcome {
  const errors = failOn === 'none' ? [] : sentence(found.error, 'error', failOn);
  const warnings = failOn === 'warning' ? sentence(found.warning, 'warning', failOn) : [];
  const reasons = [...failures, ...errors, ...unevaluated, ...warnings];
  if (failures.length + errors.length > 0)
    return { result: 'failed', exitStatus: checkStatus.failed, reasons };
  if (unevaluated.length > 0)
    return { result: 'not-evaluated', exitStatus: checkStatus.notEvaluated, reasons };
  if (warnings.length > 0) return { result: 'warnings', exitStatus: checkStatus.warnings, reasons };
  return { result: 'passed', exitStatus: checkStatus.passed, reasons };
}

function sentence(count: number, level: Level, failOn: FailOn): readonly string[] {
  if (count === 0) return [];
  return [`There ${count === 1 ? `is 1 ${level}` : `are ${count} ${level}s`} (--fail-on ${failOn}).`];
}

export function countLevels(findings: Iterable<{ readonly level: Level }>): Record<Level, number> {
  const counts = { error: 0, warning: 0, info: 0 };
  for (const { level } of findings) counts[level]++;
  return counts;
}
