import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { checks } from '../../../src/plugins/validate/registry.ts';
import { runCheck } from '../../../src/plugins/validate/run-check.ts';
import { allFixtures } from './all-fixtures.ts';
import { knownIds } from './known-ids.ts';
import { contextOf } from './test-context.ts';

const test = suite('every check of svc validate');
const fixtures = new Map(allFixtures.flatMap((some) => Object.entries(some)));

for (const check of checks) {
  const { id } = check;
  test(`${id} passes what is right and finds what is wrong`, async () => {
    const fixture = fixtures.get(id);
    assert.ok(fixture, `${id} has no fixtures`);
    const passed = await runCheck(check, contextOf(fixture.passes()));
    assert.is(passed.state, 'passed', JSON.stringify(passed));
    const found = await runCheck(check, contextOf(fixture.fails()));
    assert.is(found.state, 'failed', JSON.stringify(found));
    if (found.state !== 'failed') return;
    assert.ok(found.failures.length > 0);
    for (const { subject, message } of found.failures) {
      assert.match(subject, /^\S.*$/, id);
      assert.match(message, /^[^\n]+\.$/, `${id}: a message is a sentence`);
      assert.not.match(message, /planted/);
    }
  });

  test(`${id} is described`, () => {
    assert.match(id, /^SVC-[A-Z]+-\d{3}$/);
    assert.match(check.title, /^[A-Z].*[^.]$/);
    assert.match(check.cause, /\.$/);
    assert.match(check.fix, /^[A-Za-z]/);
  });
}

test('fixtures are those of checks', () => {
  const ids = checks.map(({ id }) => id);
  assert.equal(
    [...fixtures.keys()].filter((id) => !ids.includes(id)),
    [],
  );
  assert.is(new Set(ids).size, ids.length, 'an id is used twice');
});

test('ids are never given to another check: npm run docs notes new ones', () => {
  const known = knownIds();
  const given = known.filter(({ retired }) => !retired).map(({ id }) => id);
  assert.equal([...given].sort(), checks.map(({ id }) => id).sort());
  assert.is(new Set(known.map(({ id }) => id)).size, known.length);
});

test.run();
