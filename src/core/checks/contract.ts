/** How much a finding weighs; `info` never decides anything. */
export const levels = ['error', 'warning', 'info'] as const;
export type Level = (typeof levels)[number];

/** From which level on findings make a check fail. */
export const failOns = ['error', 'warning', 'none'] as const;
export type FailOn = (typeof failOns)[number];

/** Exit statuses of commands that check something, the same in every format. */
export const checkStatus = {
  /** Passed. */
  passed: 0,
  /** Failed: findings of the level of `--fail-on`, or what else was asked for is not so. */
  failed: 1,
  /** There are warnings and no errors, and `--fail-on warning` was asked for. */
  warnings: 2,
  /** Called or configured wrongly. */
  usage: 3,
  /** Something that has to be known could not be had; never taken for passed. */
  notEvaluated: 4,
} as const;

/** Something that a person should look at. */
export interface CheckFinding {
  /** Stable, for programs: `secret-reference`. */
  readonly id: string;
  readonly level: Level;
  /** What has it, such as `shop/Deployment/web`. */
  readonly subject: string;
  readonly message: string;
}

/** What a check amounts to. */
export interface Outcome {
  readonly result: 'passed' | 'failed' | 'warnings' | 'not-evaluated';
  readonly exitStatus: number;
  /** Why it did not pass, a sentence each. */
  readonly reasons: readonly string[];
}
