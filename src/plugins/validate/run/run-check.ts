import { messageOf, SvcError } from '../../../core/errors.ts';
import { within } from '../../../runtime/lifecycle/within.ts';
import { secrets } from '../../../runtime/logging/secrets.ts';
import { missingPermission } from '../cluster/unread.ts';
import type { Check, CheckContext, CheckResult } from '../contract.ts';
import { NotEvaluated, Skipped } from '../not-evaluated.ts';
import { notEvaluated, skipped } from '../results.ts';

const defaultTimeoutMs = 15_000;

/**
 * Connects what it needs and runs a check, within its own time. Whatever it does, there is a result, unless the run
 * was interrupted.
 */
export async function runCheck(check: Check, context: CheckContext): Promise<CheckResult> {
  const { timeoutMs = defaultTimeoutMs, undoMs = 0 } = check;
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const late = () => new NotEvaluated(`It took longer than ${timeoutMs / 1_000} s`);
  const work = begun(check, context, signal);
  try {
    return redacted(await within(work, performance.now() + timeoutMs, context.signal, late));
  } catch (error) {
    context.signal.throwIfAborted();
    return redacted(unevaluated(error));
  } finally {
    stop.abort();
    if (undoMs > 0) await settled(work, undoMs);
  }
}

async function begun(check: Check, context: CheckContext, signal: AbortSignal): Promise<CheckResult> {
  await connected(check, context);
  return check.run(context, signal);
}

async function connected({ needs }: Check, context: CheckContext): Promise<void> {
  if (needs === 'vault') await context.vault();
  if (needs === 'cluster') await context.cluster();
  if (needs === 'store') await context.store();
}

async function settled(work: Promise<unknown>, ms: number): Promise<void> {
  await within(work, performance.now() + ms, undefined, () => undefined).catch(() => undefined);
}

/** What was thrown instead of a result, as a result. */
function unevaluated(thrown: unknown): CheckResult {
  if (thrown instanceof Skipped) return skipped(thrown.message);
  if (thrown instanceof NotEvaluated) return notEvaluated(thrown.message, thrown.permission);
  if (thrown instanceof SvcError) return notEvaluated(thrown.message, missingPermission(thrown));
  return notEvaluated(`The check itself broke: ${messageOf(thrown)}`);
}

/**
 * Without the secrets that are known while the check runs: when the attempt is over its tokens are forgotten, and when
 * the report is written its texts may be escaped for XML.
 */
export function redacted(result: CheckResult): CheckResult {
  switch (result.state) {
    case 'failed': {
      const failures = result.failures.map(({ subject, message, ...rest }) => ({
        ...rest,
        subject: clean(subject),
        message: clean(message),
      }));
      const { unknown } = result;
      const kept = unknown && { unknown: { ...unknown, reason: clean(unknown.reason) } };
      return { ...result, failures, ...kept };
    }
    case 'passed':
      return {
        ...result,
        ...(result.note !== undefined && { note: clean(result.note) }),
        ...(result.trusted !== undefined && { trusted: clean(result.trusted) }),
      };
    default:
      return { ...result, reason: clean(result.reason) };
  }
}

const clean = (text: string) => secrets.redact(text);
