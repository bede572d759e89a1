/**
 * @param found number of findings of each level, shown or not
 * @param failures reasons to fail regardless of findings, a sentence each
 * @param named sources of the findings by level, such as ids of checks
 * @param unevaluated what could not be evaluated, a sentence each; never passes, and takes precedence over warnings
 */
export function outcomeOf(
  found: Readonly<Record<Level, number>>,
  failOn: FailOn,
  failures: readonly string[] = [],
  unevaluated: readonly string[] = [],
  named: Partial<Readonly<Record<Level, readonly string[]>>> = {},
): CheckOutcome {
  const errors = failOn === 'none' ? [] : sentence(found.error, 'error', failOn, named.error);
  const warnings = failOn === 'warning' ? sentence(found.warning, 'warning', failOn, named.warning) : [];
  const fails = failures.length + errors.length > 0;
  const unknown = unevaluated.map((text) => (fails ? `Could not be evaluated: ${text}` : text));
  const reasons = [...failures, ...errors, ...unknown, ...warnings];
  if (fails) return { result: 'failed', exitStatus: checkStatus.failed, reasons };
  if (unevaluated.length > 0)
    return { result: 'not-evaluated', exitStatus: checkStatus.notEvaluated, reasons };
  if (warnings.length > 0) return { result: 'warnings', exitStatus: checkStatus.warnings, reasons };
  return { result: 'passed', exitStatus: checkStatus.passed, reasons };
}

const maxNamed = 5;

function sentence(
  count: number,
  level: Level,
  failOn: FailOn,
  names: readonly string[] = [],
): readonly string[] {
  if (count === 0) return [];
  const more = names.length > maxNamed ? [`${names.length - maxNamed} more`] : [];
  const listed = names.length === 0 ? '' : `: ${[...names.slice(0, maxNamed), ...more].join(', ')}`;
  return [
    `There ${count === 1 ? `is 1 ${level}` : `are ${count} ${level}s`} (--fail-on ${failOn})${listed}.`,
  ];
}

export function countLevels(findings: Iterable<{ readonly level: Level }>): Record<Level, number> {
  const counts = { error: 0, warning: 0, info: 0 };
  for (const { level } of findings) counts[level]++;
  return counts;
}

/** The level of a finding; `info` never affects the status. */
export const levels = ['error', 'warning', 'info'] as const;
export type Level = (typeof levels)[number];

/** The lowest level of findings that makes a check fail. */
export const failOns = ['error', 'warning', 'none'] as const;
export type FailOn = (typeof failOns)[number];

/** Exit statuses of commands that check something, the same in every format. */
export const checkStatus = {
  /** Passed. */
  passed: 0,
  /** Failed: findings at the level of `--fail-on`, or another requirement is not met. */
  failed: 1,
  /** Warnings without errors under `--fail-on warning`. */
  warnings: 2,
  /** Wrong usage or configuration. */
  usage: 3,
  /** Something could not be evaluated; never counts as passed. */
  notEvaluated: 4,
} as const;

/** Something that a person should look at. */
export interface CheckFinding {
  /** Stable, for programs: `secret-reference`. */
  readonly id: string;
  readonly level: Level;
  /** The subject, such as `shop/Deployment/web`. */
  readonly subject: string;
  readonly message: string;
}

/** The outcome of a check. */
export interface CheckOutcome {
  readonly result: 'passed' | 'failed' | 'warnings' | 'not-evaluated';
  readonly exitStatus: number;
  /** Why the check did not pass, a sentence each. */
  readonly reasons: readonly string[];
}
