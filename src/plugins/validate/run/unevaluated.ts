import { messageOf, SvcError } from '../../../core/errors.ts';
import { missingPermission } from '../cluster/unread.ts';
import type { CheckResult } from '../contract.ts';
import { NotEvaluated, Skipped } from '../not-evaluated.ts';
import { notEvaluated, skipped } from '../results.ts';

/** What was thrown instead of a result, as a result. */
export function unevaluated(thrown: unknown): CheckResult {
  if (thrown instanceof Skipped) return skipped(thrown.message);
  if (thrown instanceof NotEvaluated) return notEvaluated(thrown.message, thrown.permission);
  if (thrown instanceof SvcError) return notEvaluated(thrown.message, missingPermission(thrown));
  return notEvaluated(`The check itself broke: ${messageOf(thrown)}`);
}
