import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { disagreement, matches, parseScript } from './support/script.ts';

const script = suite('script');
const TEXT = `# a comment
$ svc one
first

third
! complaint
? 2

$ svc two
`;

script('reads commands with what they should print', () => {
  assert.equal(parseScript(TEXT), [
    { command: 'svc one', line: 2, stdout: ['first', '', 'third'], stderr: ['complaint'], status: 2 },
    { command: 'svc two', line: 9, stdout: [], stderr: [], status: 0 },
  ]);
});

script('refuses output before the first command', () => {
  assert.throws(() => parseScript('stray\n$ svc\n'), /line 1/);
});

script('matches exactly but for its two wildcards', () => {
  assert.ok(matches(['a.b'], 'a.b\n'));
  assert.not.ok(matches(['a.b'], 'axb\n'));
  assert.not.ok(matches(['a'], 'a\nb\n'));
  assert.ok(matches(['v[..]!'], 'v1.2!\n'));
  assert.ok(matches(['a', '...', 'z'], 'a\nb\nc\nz\n'));
  assert.ok(matches(['a', '...', 'z'], 'a\nz\n'));
  assert.not.ok(matches(['a', '...', 'z'], 'a\nb\n'));
  assert.ok(matches([], ''));
  assert.not.ok(matches([], 'x\n'));
});

script('names each disagreement', () => {
  const [step] = parseScript('$ svc\nout\n! err\n? 3\n');
  assert.ok(step);
  assert.is(disagreement(step, { stdout: 'out\n', stderr: 'err\n', status: 3 }), '');
  const wrong = disagreement(step, { stdout: 'other\n', stderr: '', status: 0 });
  assert.match(wrong, /standard output:\nother[\s\S]*standard error:[\s\S]*status 0 instead of 3/);
});

script.run();
