import { existsSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { exceptions } from './outside-input/exceptions.ts';
import { markedFiles, marksIn } from './outside-input/marks.ts';
import { readTable, title } from './outside-input/table.ts';
import { sectionOf } from './security-tests/lines.ts';

const test = suite('docs/SECURITY-TESTS.md: what comes from outside, and its bound');

const root = new URL('../../', import.meta.url);
const isThere = (path: string): boolean => existsSync(new URL(path, root));
const section = sectionOf(readFileSync(new URL('docs/SECURITY-TESTS.md', root), 'utf8'), title);
const rows = readTable(section);
const listed = new Set(rows.flatMap(({ files }) => files));
const excepted = Object.values(exceptions).flat();

test('names files and tests that there are', () => {
  assert.ok(rows.length > 40, `${rows.length} rows`);
  assert.equal(
    [...listed].filter((path) => !isThere(path)),
    [],
  );
  const tests = rows.flatMap(({ tests }) => tests);
  assert.equal(
    tests.filter((path) => !isThere(`test/${path}.test.ts`)),
    [],
  );
});

test('names every file whose code looks like that of a parser or collector, or excepts it', () => {
  assert.equal(
    markedFiles().filter((path) => !listed.has(path) && !excepted.includes(path)),
    [],
  );
});

test('no exception is stale, twice there, or in the table, too', () => {
  const marked = new Set(markedFiles());
  assert.equal(
    excepted.filter((path) => !marked.has(path) || listed.has(path)),
    [],
  );
  assert.is(new Set(excepted).size, excepted.length);
});

/** One line of each kind of code that takes something in. */
const parsers: Readonly<Record<string, string>> = {
  'a.ts': 'const value = JSON.parse(text);',
  'b.ts': 'for await (const chunk of request) chunks.push(chunk);',
  'c.ts': "socket.on('data', (bytes) => take(bytes));",
  'd.ts': "const text = readFileSync(path, 'utf8');",
  'e.ts': "const { default: yaml } = await import('yaml');",
  'f.ts': 'const pieces = [...text.matchAll(reference)];',
  'g.ts': "const key = Buffer.from(text, 'base64');",
  'h.ts': 'const fields = readFields(message);',
  'i.ts': 'const certificate = new X509Certificate(pem);',
  'j.ts': 'for (const frame of new FrameReader().read(piece)) take(frame);',
  'k.ts': 'scanXml(text, handler);',
  'l.ts': 'const view = new JsonView(bytes);',
  'm.ts': "import { parseDocument } from 'yaml';",
  'n.go': 'index := make(map[string]valueRange)',
  'o.h': 'ssize_t count = recv(descriptor, buffer, size, 0);',
};

test('a new parser is noticed, and one that is only spoken of is not', () => {
  for (const [name, line] of Object.entries(parsers)) assert.is(marksIn(name, line).length, 1, name);
  const spoken = `/** Like JSON.parse(text). */\n// readFileSync(path)\nimport { collect } from './a.ts';\n`;
  assert.equal(marksIn('p.ts', spoken), []);
  assert.throws(() => readTable('| a | b |\n| - | - |\n| a | b | c |'), /five cells/);
});

test.run();
