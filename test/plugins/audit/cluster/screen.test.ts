import { stripVTControlCharacters } from 'node:util';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { createScreen as createDraw } from '../../../../src/plugins/audit/cluster/watch-cluster.ts';
import { createScreen } from '../../../support/screen.ts';

const test = suite('reports drawn one over the other');

function terminal(rows: number, columns: number) {
  const screen = createScreen(rows, columns);
  screen.write('$ svc audit --watch\n');
  const size = { rows, columns };
  const written: string[] = [];
  const write = (text: string) => {
    written.push(text);
    screen.write(text);
  };
  const draw = createDraw({
    isTTY: true,
    get rows() {
      return size.rows;
    },
    get columns() {
      return size.columns;
    },
    write,
  });
  return { screen, size, written, draw };
}

const shown = (rows: readonly string[]) => rows.join('\n').trimEnd();
const report = (lines: number, end = 'Passed.') =>
  `${Array.from({ length: lines }, (_, index) => `row ${index + 1}`).join('\n')}\n\n${end}`;

test('nothing of the last one stays, and nothing scrolls', () => {
  const { screen, draw } = terminal(12, 40);
  const texts = [report(6), report(2, 'Failed: \u001b[31mred\u001b[39m words'), report(8), report(1)];
  for (const text of texts) {
    draw(text);
    assert.is(shown(screen.rows), stripVTControlCharacters(text));
    assert.is(screen.cursor.column, 0);
    assert.is(screen.cursor.row, text.split('\n').length);
  }
  assert.equal(screen.scrolled, []);
  assert.equal(screen.unknown, []);
});

test('what a window is too low for is counted, and how it came out is told', () => {
  for (const [columns, first] of [
    [60, 4],
    [40, 3],
  ] as const) {
    const { screen, draw } = terminal(8, columns);
    draw(report(30));
    const rows = Array.from({ length: first }, (_, index) => `row ${index + 1}`);
    const more = `… and ${30 - first} more lines, for which this window is too low`;
    assert.is(screen.rows.join(''), [...rows, more, 'Passed.'].join(''));
    assert.is(screen.rows.at(-2), 'Passed.');
    assert.equal(screen.scrolled, []);
  }
});

test('lines as wide as the window, and wider ones, take the rows that they need', () => {
  const { screen, draw } = terminal(8, 10);
  const wide = (length: number) => 'x'.repeat(length);
  draw(`${wide(10)}\n${wide(25)}\n${wide(3)}\n\nPassed.`);
  assert.equal(screen.rows, [wide(10), wide(10), wide(10), wide(5), wide(3), '', 'Passed.', '']);
  draw(`${wide(4)}\n${wide(10)}\n${wide(13)}\n\nPassed.`);
  assert.equal(screen.rows, [wide(4), wide(10), wide(10), wide(3), '', 'Passed.', '', '']);
  assert.equal(screen.scrolled, []);
});

test('a window of no known size is taken for the usual one', () => {
  const screen = createScreen(24, 80);
  createDraw({ isTTY: true, rows: 0, columns: 0, write: screen.write })(report(30));
  assert.match(shown(screen.rows), /^row 1\n[\s\S]* more lines[\s\S]*Passed\.$/);
  assert.equal(screen.scrolled, []);
});

test('the same is not drawn twice, but in a window of another size anew', () => {
  const { screen, size, written, draw } = terminal(10, 40);
  draw(report(3));
  draw(report(3));
  assert.is(written.length, 1);
  size.rows = 9;
  screen.write('what the terminal made of it\n');
  draw(report(3));
  assert.is(written.length, 2);
  assert.is(shown(screen.rows), report(3));
});

test.run();
