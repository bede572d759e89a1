import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import type { FormingRecord } from './driver/forming.ts';
import type { Records } from './driver/scenarios.ts';

interface Judged {
  /** What becomes of an attack: an outcome of an attack path, and an errno of a call. */
  readonly outcome: string;
  readonly call: string;
  readonly told: () => Partial<Records>;
}

const harmless = {
  'own stack': 'done',
  'own places': 'done',
  'own count': 'done',
  "another's places": 'done',
  "another's count": 'done',
};

/** What holds on every tier that enforces. */
export function declareCommon(test: Test, { outcome, call, told }: Judged): void {
  for (const [name, by] of [
    ['sharedByThread', 'a thread'],
    ['sharedByChild', 'a child that shares it'],
  ] as const) {
    test(`memory opened by way of ${by} that has ended since cannot be read`, () => {
      const expected = { unprotected: 'leaked', outcome, openedBefore: true, reported: 1 };
      assert.equal(told()[name], expected);
    });
  }

  test('samples of memory are kept from others, also by way of children, and harmless ones are not', () => {
    const expected = { inherited: call, stack: call, registers: call, absentAttributes: call, harmless };
    assert.equal(told().samples, expected);
  });

  test('the limit on core dumps can be lowered from outside, not raised', () =>
    assert.equal(told().limits, { lowered: 'done', raised: call }));
}

/** A process is told by the programs that they keep others out of it. */
export function declareAsked(test: Test, told: () => Partial<Records>): void {
  const no = { covered: false, limit: 'unlimited' };
  test('a process that asks is told that it is covered, where attempts are denied', () =>
    assert.equal(told().asked, { before: no, after: { ...no, covered: true }, audited: no }));
}

/** Nobody reads a child before it is covered; without a guard the same one does. */
export function judgeForming({ unprotected, covered }: FormingRecord): void {
  assert.ok(unprotected.leaked > 0, 'the lurker reads what nobody covers');
  assert.ok(covered.denied > 100, `${covered.denied} attempts were denied`);
  assert.is(covered.leaked, 0);
}
