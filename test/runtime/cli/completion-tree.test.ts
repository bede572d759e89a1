import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  bashCompletion,
  fishCompletion,
  zshCompletion,
} from '../../../src/runtime/cli/completion-scripts.ts';
import {
  below,
  completionTree,
  type DescribedCommand,
  keyOf,
} from '../../../src/runtime/cli/completion-tree.ts';

const test = suite('completion');

const command = (id: string, more: Partial<DescribedCommand> = {}): DescribedCommand => ({
  id,
  flags: {},
  args: {},
  ...more,
});
const flag = (more: object) => ({ flags: { it: { name: 'it', type: 'option', ...more } } });
const only = (more: object) => completionTree('svc', [command('x', flag(more))], []).nodes.at(-1)?.flags[0];

test('knows commands, topics without a command, and what stands below them', () => {
  const commands = [
    command('run'),
    command('run:proxy'),
    command('a:b:c'),
    command('gone', { hidden: true }),
  ];
  const tree = completionTree('svc', commands, [{ name: 'a', description: 'Letters.' }]);
  assert.equal(tree.nodes.map(keyOf), ['', 'a', 'a b', 'a b c', 'run', 'run proxy']);
  const [top] = tree.nodes;
  assert.ok(top);
  assert.equal(below(tree, top).map(keyOf), ['a', 'run']);
  assert.is(tree.nodes[1]?.summary, 'Letters.');
});

test('offers help everywhere, and no flag that is hidden', () => {
  const tree = completionTree('svc', [command('x', flag({ hidden: true }))], []);
  assert.equal(
    tree.nodes.at(-1)?.flags.map(({ name }) => name),
    ['help'],
  );
});

test('takes choices from options or from what help shows', () => {
  assert.equal(only({ options: ['a', 'b'] })?.choices, ['a', 'b']);
  assert.equal(only({ helpValue: 'json|text' })?.choices, ['json', 'text']);
  assert.equal(only({ helpValue: '<value>' })?.choices, []);
  assert.equal(only({ helpValue: ['json', 'text'] })?.choices, ['json', 'text']);
});

test('knows which values name files', () => {
  for (const helpValue of ['<file>', '<folder>', '<path>']) assert.is(only({ helpValue })?.isFile, true);
  assert.is(only({ helpValue: '<value>' })?.isFile, false);
  assert.is(only({ type: 'boolean' })?.takesValue, false);
});

const hostile = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom(
    '$(touch it)',
    '`id`',
    "'; exit 9 #",
    '"',
    '\\',
    '!!',
    '\n',
    '*',
    '~',
    '%s',
    '@file',
    '-- x',
  ),
);

test('offers nothing that a shell would read otherwise', () => {
  fc.assert(
    fc.property(hostile, hostile, hostile, (name, value, summary) => {
      const flags = { [name]: { name, type: 'option', char: value, options: [value], summary } };
      const tree = completionTree(
        'svc',
        [command(`x:${name}`, { flags, summary })],
        [{ name, description: summary }],
      );
      const words = tree.nodes.flatMap((node) => [
        ...node.words,
        ...node.choices,
        ...node.flags.flatMap((one) => [one.name, ...one.choices]),
      ]);
      assert.ok(
        words.every((word) => /^[\w.@/+-]+$/.test(word)),
        JSON.stringify(words),
      );
      assert.ok(tree.nodes.every((node) => /^[^'"`$\\\n]*$/.test(node.summary)));
    }),
  );
});

test('makes scripts that bash can read, whatever plugins are called', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(hostile, hostile), { maxLength: 5 }), (pairs) => {
      const commands = pairs.map(([name, value]) =>
        command(`x:${name}`, { summary: value, ...flag({ summary: value }) }),
      );
      const tree = completionTree('svc', commands, []);
      const { status, stderr } = spawnSync('bash', ['-n'], { input: bashCompletion(tree), encoding: 'utf8' });
      assert.is(status, 0, stderr);
      assert.is(zshCompletion(tree).includes('undefined'), false);
      assert.is(fishCompletion(tree).includes('undefined'), false);
    }),
    { numRuns: 20 },
  );
});

test.run();
