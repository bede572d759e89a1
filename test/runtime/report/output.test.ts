import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { tableText } from '../../../src/runtime/report/report-table.ts';
import {
  outcomeLine,
  outcomeText,
  printable,
  sectionsText,
  titled,
  wrapped,
} from '../../../src/runtime/report/report-text.ts';

const test = suite('what reports are made of');
const esc = String.fromCharCode(27);

test('nothing that others wrote reaches the terminal as a command', () => {
  assert.is(printable(`a${esc}[2Jb\nc\u202ed`), 'a\\u{1b}[2Jb\\u{a}c\\u{202e}d');
  assert.not.ok(tableText([{ title: 'T', width: 30 }], [[`x${esc}[2J`]]).includes(esc));
});

test('a table keeps to its width and cuts nothing off', () => {
  const word = fc.stringMatching(/^[a-z0-9/-]{1,80}$/);
  const columns = [
    { title: 'A', width: 16 },
    { title: 'B', width: 34 },
  ];
  fc.assert(
    fc.property(fc.array(fc.tuple(word, word), { minLength: 1, maxLength: 5 }), (rows) => {
      const lines = tableText(columns, rows).split('\n');
      assert.ok(
        lines.every((line) => line.length <= 54),
        lines.join('\n'),
      );
      const left = lines.slice(1).map((line) => line.slice(0, 18).trim());
      const right = lines.slice(1).map((line) => line.slice(18).trim());
      assert.is(left.join(''), rows.map(([a]) => a).join(''));
      assert.is(right.join(''), rows.map(([, b]) => b).join(''));
    }),
  );
});

test('lines are wrapped at blanks', () => {
  assert.is(wrapped('one two three', 7, '  '), 'one two\n  three');
});

const bold = (style: string, text: string) => `<${style}>${text}`;

test('sections stand apart, and those without lines do not stand at all', () => {
  const text = sectionsText([['a', 'b'], titled('None:', [], bold), titled('Some:', ['c'], bold)]);
  assert.is(text, 'a\nb\n\n<bold>Some:\nc');
});

test('an outcome is one line for programs, and fits the others for people', () => {
  const reasons = ['SVC-VAULT-001, '.repeat(12)];
  const outcome = { result: 'not-evaluated', exitStatus: 4, reasons } as const;
  assert.is(outcomeLine(outcome), `Not passed: ${reasons[0]}`);
  const lines = outcomeText(outcome, bold).split('\n');
  assert.match(lines[0] ?? '', /^<red>Not passed: SVC/);
  assert.ok(lines.length > 1 && lines.every((line) => line.length <= 98 + '<red>'.length));
});

test.run();
