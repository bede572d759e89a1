import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { RecoveryRehearsal } from '../../../../../src/objects/format/recovery-rehearsal.ts';
import { recoveryChecks } from '../../../../../src/plugins/validate/areas/recovery.ts';
import { runCheck } from '../../../../../src/plugins/validate/run-check.ts';
import type { Fixture } from '../../fixture.ts';
import { contextOf } from '../../test-context.ts';
import { afterRehearsal, withUnusableKey } from './fixtures.ts';

const test = suite('verdicts on a rehearsal of recovery');

const resultsOf = (fixture: Fixture) => {
  const context = contextOf(fixture);
  return Promise.all(recoveryChecks.map((check) => runCheck(check, context)));
};

const states = async (changes: Partial<RecoveryRehearsal>) =>
  (await resultsOf(afterRehearsal(changes)())).map(({ state }) => state);

test('the sum and each object are told, and what was not read', async () => {
  const [, , opens] = await resultsOf(afterRehearsal({ unencrypted: 3 })());
  assert.equal(opens, {
    state: 'passed',
    note: '2 objects (1 to the end, 1 at both ends, 0 keys only) of 12 in photos/',
    trusted:
      'Of 1 object larger than --read-whole the body was not read, or not all of it. Sampled objects that are not encrypted: 3.',
    examined: [
      { subject: 'photos/a', found: 'format 1, read to its end' },
      { subject: 'photos/b', found: 'format 2 in 2 parts, read at its beginning and its end' },
    ],
  });
});

test('a rehearsal that has opened nothing passes nothing', async () => {
  for (const changes of [{}, { unencrypted: 4 }, { gone: 1 }])
    assert.equal(await states({ opened: [], ...changes }), ['passed', 'not-evaluated', 'not-evaluated']);
});

test('what could not be looked at is unknown, beside what was found', async () => {
  const faults = [
    { key: 'c', reason: 'not-recoverable', message: 'the object is not sealed to any recovery key' },
  ];
  assert.equal(await states({ faults, denied: 1 }), ['passed', 'failed', 'not-evaluated']);
  const [, sealed, opens] = await resultsOf(afterRehearsal({ faults, denied: 1 })());
  assert.equal(sealed, {
    state: 'failed',
    failures: [
      { subject: 'photos/c', message: 'not-recoverable: the object is not sealed to any recovery key.' },
    ],
    unknown: {
      reason: 'The credentials may not read 1 object of the sample',
      permission: 's3:GetObject',
    },
  });
  assert.is(opens?.state === 'not-evaluated' && opens.permission, 's3:GetObject');
  assert.equal(await states({ endedBy: new Error('the store is away') }), [
    'passed',
    'not-evaluated',
    'not-evaluated',
  ]);
});

test('with a file that holds no keys nothing else is judged', async () => {
  const found = (await resultsOf(withUnusableKey())).map(({ state }) => state);
  assert.equal(found, ['failed', 'skipped', 'skipped']);
});

test.run();
