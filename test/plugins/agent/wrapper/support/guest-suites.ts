import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tierNames } from '../../../../../src/runtime/protocols/protection/report.ts';
import type { DumpsRecord } from './dumps.ts';
import { expectUnread } from './expect-order.ts';
import { expectUndisturbed } from './expect-view.ts';
import type { OrderRecord } from './order.ts';
import { longestMs, runInGuest } from './run-in-guest.ts';
import type { ScenarioName } from './scenarios.ts';
import type { ViewRecord } from './view.ts';

/** For the files of these suites. */
export const timeoutOfFile = longestMs + 20_000;

/** The records of one kind, once the scenario has come to its end. */
async function recordsOf<T>(scenario: ScenarioName, tier: 1 | 2): Promise<T[]> {
  const { status, records, stdout, stderr } = await runInGuest(scenario, tier);
  assert.is(status, 0, stderr + stdout);
  assert.is(records.at(-1)?.['kind'], 'end', stderr);
  return records.filter(({ kind }) => kind === scenario) as T[];
}

/** Suites of one test each: a virtual machine takes its time. */
export function orderSuite(tier: 1 | 2): void {
  const test = suite(`from registration to application, on tier ${tier} (${tierNames[tier]})`);
  test('nothing of wrapper and application is readable, through restarts with new secrets', async () => {
    const records = await recordsOf<OrderRecord>('order', tier);
    assert.ok(records.length > 0);
    for (const record of records) {
      expectUnread(record);
      assert.ok(record.applications >= 5, 'restarts');
      assert.ok(record.stalked.denied > 0);
    }
  });
  test.run();
}

export function viewSuite(tier: 1 | 2): void {
  const test = suite(`application and wrapper under protection, on tier ${tier} (${tierNames[tier]})`);
  test('see and do what they do without it', async () => {
    const [record] = await recordsOf<ViewRecord>('view', tier);
    assert.ok(record);
    const { uptime, ...seen } = record as ViewRecord & { uptime: number };
    assert.ok(uptime);
    expectUndisturbed(seen, tier);
  });
  test.run();
}

export function dumpsSuite(tier: 1 | 2): void {
  const test = suite(`what the limits of the wrapper cover, on tier ${tier} (${tierNames[tier]})`);
  test('no core dump through a pipe, no limit raised from outside, no secret among the arguments', async () => {
    const [record] = await recordsOf<DumpsRecord>('dumps', tier);
    assert.is(record?.unlimited, 'with the secret', 'where the wrapper leaves the limit alone');
    assert.is(record?.application, 'none');
    assert.is(record?.wrapper, 'none');
    assert.equal(record?.raised, { application: 'denied', wrapper: 'denied' });
    assert.is(record?.title.outcome, 'failed');
    assert.match(record?.title.detail ?? '', /^[1-9]\d* bytes$/);
  });
  test.run();
}
