import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { blocksIn, commandsIn, entriesIn, isShown, sectionOf } from './console.ts';

const test = suite('console blocks of a page');

const page = [
  ...['# Title', '', '```console', '$ one --two \\', '    three', 'shown', '', 'more', '$ four', '```', ''],
  ...['## Part', '```yaml pod.yaml', '# no heading', 'a: 1', '```', '```sh', 'not typed', '```', ''],
  ...['## Other', '```console', '$ five', '```', ''],
].join('\n');

test('have what is typed, with what is shown and where it stands', () => {
  assert.equal(entriesIn(page), [
    { typed: { command: 'one --two \\\n    three', line: 4, shown: ['shown', '', 'more'] } },
    { typed: { command: 'four', line: 9, shown: [] } },
    { file: { name: 'pod.yaml', text: '# no heading\na: 1\n' } },
    { typed: { command: 'five', line: 23, shown: [] } },
  ]);
});

test('have blocks of a language, with the commands of each', () => {
  const blocks = blocksIn(`${page}\n\`\`\`sh\n# note\none \\\n  two\nthree\n\`\`\`\n`, 'sh');
  assert.equal(blocks, [
    { text: 'not typed', line: 18 },
    { text: '# note\none \\\n  two\nthree', line: 27 },
  ]);
  assert.equal(blocks.map(commandsIn), [['not typed'], ['# note', 'one \\\n  two', 'three']]);
  assert.equal(blocksIn(page, 'yaml'), []);
  assert.throws(() => blocksIn('```sh\none\n', 'sh'), /line 1/);
});

test('a section ends at the next heading of its level, and keeps the numbers of its lines', () => {
  const part = sectionOf(page, '## Part');
  assert.equal(entriesIn(part), [{ file: { name: 'pod.yaml', text: '# no heading\na: 1\n' } }]);
  assert.equal(entriesIn(sectionOf(page, '## Other')), [{ typed: { command: 'five', line: 23, shown: [] } }]);
  assert.throws(() => sectionOf(page, '## None'), /## None/);
});

test('output ahead of a command, and a block without an end, are errors', () => {
  assert.throws(() => entriesIn('```console\nstray\n$ one\n```\n'), /line 2/);
  assert.throws(() => entriesIn('```console\n$ one\n'), /line 1/);
});

test('only the wildcards match other text', () => {
  assert.ok(isShown(['a … c'], 'a b c\n'));
  assert.not.ok(isShown(['a … c'], 'a b\nc\n'));
  assert.ok(isShown(['a', '...', 'z'], 'a\nb\nc\nz'));
  assert.ok(isShown(['...'], ''));
  assert.not.ok(isShown(['a'], 'a\nb'));
  assert.not.ok(isShown(['a.c'], 'abc'));
});

test.run();
