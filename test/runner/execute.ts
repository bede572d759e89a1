import { describeError, unavailableTool } from './describe-error.ts';
import type { Emit } from './events.ts';
import type { Case, Handler, State, Suite } from './uvu-api.ts';

/** Runs a suite's hooks and tests one after the other and emits what became of each. */
export async function executeSuite(suite: Suite, emit: Emit): Promise<void> {
  const label = suite.name || '(unnamed suite)';
  const chosen = suite.only.length > 0 ? suite.only : suite.tests;
  reportLeftOut(suite, label, emit);
  if (chosen.length === 0 && suite.skips.length === 0) {
    emit({ type: 'fail', name: label, error: 'The suite has no tests.' });
  }
  suite.state['__suite__'] = suite.name;
  try {
    for (const hook of suite.before) await hook(suite.state);
    for (const test of chosen) await executeTest(suite, test, label, emit);
  } catch (error) {
    reportHook(error, `${label} › before hook`, chosen.length, emit);
  }
  suite.state['__test__'] = '';
  await everyHook(suite.after, suite.state, (error) => reportHook(error, `${label} › after hook`, 1, emit));
}

function reportLeftOut(suite: Suite, label: string, emit: Emit): void {
  if (suite.skips.length > 0) {
    emit({ type: 'skip', name: label, reason: 'marked .skip', count: suite.skips.length });
  }
  if (suite.only.length > 0) {
    emit({
      type: 'skip',
      name: label,
      reason: 'other tests are marked .only',
      count: suite.tests.length || 1,
    });
  }
}

async function executeTest(suite: Suite, test: Case, label: string, emit: Emit): Promise<void> {
  const name = `${label} › ${test.name}`;
  const errors: unknown[] = [];
  emit({ type: 'start', name });
  suite.state['__test__'] = test.name;
  try {
    for (const hook of suite.beforeEach) await hook(suite.state);
    await test.handler(suite.state);
  } catch (error) {
    errors.push(error);
  }
  await everyHook(suite.afterEach, suite.state, (error) => errors.push(error));
  conclude(name, errors, emit);
}

function conclude(name: string, errors: unknown[], emit: Emit): void {
  if (errors.length === 0) return emit({ type: 'pass', name });
  const missing = errors.length === 1 ? unavailableTool(errors[0]) : undefined;
  if (missing) return emit({ type: 'skip', name, reason: missing, count: 1 });
  emit({ type: 'fail', name, error: errors.map(describeError).join('\n') });
}

async function everyHook(hooks: Handler[], state: State, onError: (error: unknown) => void): Promise<void> {
  for (const hook of hooks) {
    try {
      await hook(state);
    } catch (error) {
      onError(error);
    }
  }
}

function reportHook(error: unknown, name: string, count: number, emit: Emit): void {
  const missing = unavailableTool(error);
  if (missing) return emit({ type: 'skip', name, reason: missing, count });
  emit({ type: 'fail', name, error: describeError(error) });
}
