import { within } from '../../../runtime/lifecycle/within.ts';
import type { Check, CheckContext, CheckResult } from '../contract.ts';
import { NotEvaluated } from '../not-evaluated.ts';
import { redacted } from './redacted.ts';
import { unevaluated } from './unevaluated.ts';

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
