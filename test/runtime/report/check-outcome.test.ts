import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { countLevels, outcomeOf } from '../../../src/runtime/report/check-outcome.ts';
import { sarifLog } from '../../../src/runtime/report/sarif.ts';

const test = suite('outcomes of checks');
const both = { error: 1, warning: 2, info: 3 };
const warnings = { ...both, error: 0 };
const infos = { ...warnings, warning: 0 };

test('fail on what they are told to, and on nothing less', () => {
  const status = (...args: Parameters<typeof outcomeOf>) => outcomeOf(...args).exitStatus;
  assert.equal(
    [both, warnings, infos].map((found) => status(found, 'none')),
    [0, 0, 0],
  );
  assert.equal(
    [both, warnings, infos].map((found) => status(found, 'error')),
    [1, 0, 0],
  );
  assert.equal(
    [both, warnings, infos].map((found) => status(found, 'warning')),
    [1, 2, 0],
  );
  assert.is(status(infos, 'none', ['Too low.']), 1);
  assert.is(status(warnings, 'warning', ['Too low.']), 1);
});

test('what could not be found out is never passed, less than an error and more than a warning', () => {
  const status = (...args: Parameters<typeof outcomeOf>) => outcomeOf(...args).exitStatus;
  assert.is(status(infos, 'none', [], ['No cluster.']), 4);
  assert.is(status(warnings, 'warning', [], ['No cluster.']), 4);
  assert.is(status(both, 'error', [], ['No cluster.']), 1);
  assert.equal(outcomeOf(both, 'error', [], ['No cluster.']).reasons, [
    'There is 1 error (--fail-on error).',
    'Could not be evaluated: No cluster.',
  ]);
});

test('say why', () => {
  assert.equal(outcomeOf(both, 'warning').reasons, [
    'There is 1 error (--fail-on warning).',
    'There are 2 warnings (--fail-on warning).',
  ]);
  assert.equal(outcomeOf(infos, 'warning').reasons, []);
});

test('levels are counted', () => {
  const found = ['error', 'info', 'info'] as const;
  assert.equal(countLevels(found.map((level) => ({ level }))), { error: 1, warning: 0, info: 2 });
});

test('SARIF knows each rule that is used, and calls information a note', () => {
  const rules = ['a', 'b', 'c'].map((id) => ({ id, summary: id, help: id }));
  const finding = { level: 'info', subject: 's', message: 'm' } as const;
  const log = sarifLog({ name: 't', version: '1', rules }, [
    { ...finding, id: 'c' },
    { ...finding, id: 'a' },
  ]);
  // biome-ignore lint/suspicious/noExplicitAny: a log is picked apart freely
  const [run] = (log as any).runs;
  assert.equal(
    run.tool.driver.rules.map(({ id }: { id: string }) => id),
    ['a', 'c'],
  );
  assert.equal(
    run.results.map(({ ruleIndex }: { ruleIndex: number }) => ruleIndex),
    [1, 0],
  );
  assert.is(run.results[0].level, 'note');
});

test('SARIF says where more is said, what does not count, and what was not found out', () => {
  const rules = ['a', 'b', 'c'].map((id) => ({ id, summary: id, help: id, helpUri: `file:///c.md#${id}` }));
  const finding = { level: 'error', subject: 's', message: 'm', id: 'b', suppressed: 'ignored' } as const;
  const log = sarifLog({ name: 't', version: '1', rules }, [finding], [{ id: 'c', message: 'No cluster.' }]);
  // biome-ignore lint/suspicious/noExplicitAny: a log is picked apart freely
  const [run] = (log as any).runs;
  assert.equal(
    run.tool.driver.rules.map(({ helpUri }: { helpUri: string }) => helpUri),
    ['file:///c.md#b', 'file:///c.md#c'],
  );
  assert.equal(run.results[0].suppressions, [{ kind: 'external', justification: 'ignored' }]);
  assert.equal(run.invocations, [
    {
      executionSuccessful: false,
      toolExecutionNotifications: [
        { level: 'error', message: { text: 'No cluster.' }, associatedRule: { id: 'c' } },
      ],
    },
  ]);
});

test.run();
