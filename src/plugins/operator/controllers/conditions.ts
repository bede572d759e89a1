import { isDeepStrictEqual } from 'node:util';
import type { Condition } from '../../../core/custom-resources/condition.ts';

export type NewCondition = Omit<Condition, 'lastTransitionTime'>;

/** The condition with the time of its last change, which is now unless its status is as before. */
export function withTransition(
  condition: NewCondition,
  before: readonly Condition[] = [],
  now: string = new Date().toISOString(),
): Condition {
  const same = before.find(({ type, status }) => type === condition.type && status === condition.status);
  // metav1.Time has no fractions of a second
  const at = same?.lastTransitionTime ?? now.replace(/\.\d+Z$/, 'Z');
  return { ...condition, lastTransitionTime: at };
}

export const longestMessage = 4_096;

/** All mistakes in one message, as far as there is room. */
export function joinedMistakes(mistakes: readonly string[]): string {
  const text = mistakes.join('; ');
  return text.length <= longestMessage ? text : `${text.slice(0, longestMessage - 1)}…`;
}

/** Whether two statuses say the same, whatever the order of their members. */
export function isSameStatus(one: object, other: object): boolean {
  return isDeepStrictEqual(withoutUndefined(one), withoutUndefined(other));
}

function withoutUndefined(value: object): unknown {
  return JSON.parse(JSON.stringify(value));
}
