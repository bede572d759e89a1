import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { measureNode } from '../../bench/harness/cpu-time.ts';
import { median } from '../../bench/harness/median.ts';
import { withTable, writeTables } from '../../bench/harness/page.ts';
import { formatTable } from '../../bench/harness/table.ts';
import { temporaryFolder } from '../support/temporary.ts';

const harness = suite('bench harness');

harness('takes the middle value', () => {
  assert.is(median([30, 10, 20]), 20);
  assert.is(median([4, 1, 3, 2]), 2.5);
  assert.throws(() => median([]), RangeError);
});

harness('aligns figures and shows what could not be measured', () => {
  const rows = [
    { name: 'a', cells: [1234.5, 'n/a'] },
    { name: 'long', cells: [1.234, undefined] },
  ];
  const text = formatTable({ title: 'T', columns: ['ms', 'MB/s'], rows, notes: ['note'] });
  assert.is(
    text,
    ['T', '          ms  MB/s', '  a     1235   n/a', '  long  1.23     –', '  note'].join('\n'),
  );
});

harness('measures a process and refuses one that fails', () => {
  const { cpu, wall } = measureNode(['-e', '0']);
  assert.ok(cpu > 0 && wall > 0);
  assert.throws(() => measureNode(['-e', 'process.exit(3)']), /ended with 3/);
});

harness('puts a table into a page in the place of the one with its heading, and says when', () => {
  const page = [
    'before',
    '',
    '| a  | ms |',
    '| -- | -: |',
    '| x  |  1 |',
    '',
    'Measured on 1 May: x.',
    '',
    'after',
  ];
  const table = {
    title: 'a',
    columns: ['ms'],
    rows: [
      { name: '`svc`', cells: [1234.5] },
      { name: 'aim', cells: [] },
    ],
  };
  const once = withTable(page.join('\n'), table);
  const lines = once.split('\n');
  assert.equal(lines.slice(0, 2), ['before', '']);
  const rows = ['| a     |   ms |', '| ----- | ---: |', '| `svc` | 1235 |', '| aim   |      |'];
  assert.equal(lines.slice(2, 6), rows);
  assert.match(lines[7] ?? '', /^Measured on \d+ \w+ \d{4}: .*Node/);
  assert.equal(lines.slice(8), ['', 'after']);
  assert.is(withTable(once, table), once);
  assert.is(withTable('before\n\n<!-- table a -->\n\nafter', table), once);
  assert.throws(() => withTable('no table', table), /no table with the heading "a"/);
});

harness('puts each table into the page that has its place', () => {
  const folder = temporaryFolder('pages');
  try {
    const [one, other] = ['one.md', 'other.md'].map((name) => pathToFileURL(join(folder.path, name))) as [
      URL,
      URL,
    ];
    writeFileSync(one, '<!-- table a -->\n');
    writeFileSync(other, '<!-- table b -->\n');
    const table = (title: string) => ({ title, columns: ['ms'], rows: [{ name: 'svc', cells: [1] }] });
    writeTables([one, other], [table('b'), table('a')]);
    assert.match(readFileSync(one, 'utf8'), /^\| a /);
    assert.match(readFileSync(other, 'utf8'), /^\| b /);
    assert.throws(() => writeTables([one, other], [table('c')]), /no table with the heading "c"/);
  } finally {
    folder.remove();
  }
});

harness.run();
