import * as assert from 'uvu/assert';
import type { CheckResult } from '../../../../src/plugins/validate/check.ts';
import { checks } from '../../../../src/plugins/validate/registry.ts';
import { runCheck } from '../../../../src/plugins/validate/run-check.ts';
import type { Fixture } from '../fixture.ts';
import { contextOf } from '../test-context.ts';

/** What a check comes to in a cluster. */
export async function verdictOf(id: string, fixture: () => Fixture): Promise<CheckResult> {
  const check = checks.find((one) => one.id === id);
  if (check === undefined) throw new Error(`there is no ${id}`);
  return runCheck(check, contextOf(fixture()));
}

/** Levels of what was found, the check's own where a failure names none. */
export async function levels(id: string, fixture: () => Fixture): Promise<readonly string[]> {
  const result = await verdictOf(id, fixture);
  assert.is(result.state, 'failed', JSON.stringify(result));
  const own = checks.find((one) => one.id === id)?.level ?? '';
  return result.state === 'failed' ? result.failures.map(({ level = own }) => level) : [];
}
