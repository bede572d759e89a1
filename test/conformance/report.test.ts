import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Part } from './part.ts';
import { runParts } from './report.ts';

const test = suite('what the conformance run reports');
const options = {
  minutes: 1,
  seed: 1,
  objects: 1,
  requests: 1,
  from: 0,
  store: undefined,
  case: undefined,
  write: false,
  keep: false,
};

const part = (name: string, run: Part['run']): Part => ({ name, summary: `tries ${name}`, run });

async function runAll(...parts: Part[]) {
  const lines: string[] = [];
  const counts = await runParts(parts, options, (text) => lines.push(text));
  return { counts, text: lines.join('\n') };
}

test('counts what holds and what does not', async () => {
  const { counts, text } = await runAll(
    part('one', async (report) => {
      report.check('water is wet', true);
      report.check('stones swim', false, 'they sank');
    }),
  );
  assert.equal(counts, { passed: 1, failed: 1 });
  assert.match(text, /^== one: tries one$/m);
  assert.match(text, /^ok {3}water is wet$/m);
  assert.match(text, /^FAIL stones swim: they sank$/m);
});

test('a part that throws is one failure, and the next one runs', async () => {
  const broken = part('broken', async () => {
    throw new Error('no store');
  });
  const { counts, text } = await runAll(
    broken,
    part('next', async (report) => report.check('runs', true)),
  );
  assert.equal(counts, { passed: 1, failed: 1 });
  assert.match(text, /^FAIL broken comes to its end: Error: no store$/m);
});

test('every line that a part says is set off', async () => {
  const { text } = await runAll(part('talker', async (report) => report.say('first\nsecond')));
  assert.match(text, /^ {3}first\n {3}second$/m);
});

test.run();
