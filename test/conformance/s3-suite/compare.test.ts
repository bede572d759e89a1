import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compareRows, type Row } from './compare.ts';

const test = suite('comparison of the S3 suite at the store and through the proxy');

const row = (name: string, outcome: Row['outcome'], group = 'Group'): Row => ({ group, name, outcome });
const causes = (...rows: string[]) => [{ kind: 'defect', cause: 'some', rows } as const];

test('a row is lost if it passes at the store and not through the proxy', () => {
  const atStore = [
    row('both', 'passed'),
    row('lost', 'passed'),
    row('never', 'failed'),
    row('gone', 'passed'),
  ];
  const through = [row('both', 'passed'), row('lost', 'failed'), row('never', 'failed')];
  const { lost, unexplained, stale, totals } = compareRows(atStore, through, causes('lost'));
  assert.equal(
    lost.map(({ name }) => name),
    ['lost', 'gone'],
  );
  assert.equal(
    unexplained.map(({ name, reason }) => [name, reason]),
    [['gone', 'did not run']],
  );
  assert.equal(stale, []);
  assert.equal(totals, [{ group: 'Group', atStore: 3, lost: 2 }]);
});

test('what is named and not lost is stale: it passes, fails at the store, is unknown, or is named twice', () => {
  const atStore = [row('passes', 'passed'), row('never', 'failed'), row('lost', 'passed')];
  const through = [row('passes', 'passed'), row('never', 'failed'), row('lost', 'failed')];
  const known = causes('passes', 'never', 'unknown', 'lost', 'lost');
  assert.equal(compareRows(atStore, through, known).stale, ['passes', 'never', 'unknown', 'lost']);
});

test('tests of the same name pass if all of them do', () => {
  const twice = (first: Row['outcome'], second: Row['outcome']) => [row('one', first), row('one', second)];
  const lost = (through: Row[]) => compareRows(twice('passed', 'passed'), through, []).lost.length;
  assert.is(lost(twice('passed', 'passed')), 0);
  assert.is(lost(twice('failed', 'passed')), 1);
  assert.is(lost(twice('passed', 'failed')), 1);
  assert.is(compareRows(twice('passed', 'failed'), twice('failed', 'failed'), []).lost.length, 0);
});

test.run();
