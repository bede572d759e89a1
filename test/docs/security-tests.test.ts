import { existsSync, readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { title } from './outside-input/table.ts';
import { linesOfModel, sectionOf, untested } from './security-tests/lines.ts';
import { linesOf, referencesIn } from './security-tests/references.ts';

const test = suite('docs/SECURITY-TESTS.md');

const pageOf = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), 'utf8');
const whole = pageOf('SECURITY-TESTS.md');
/** Without the table of another form, which outside-input.test.ts reads. */
const page = whole.replace(sectionOf(whole, title), '');
const model = pageOf('THREAT-MODEL.md');
const proxy = pageOf('PROXY.md');

const sentences = linesOf(sectionOf(page, "The proxy's page"));
const lines = linesOf(page).filter((line) => !sentences.includes(line));
const joined = (text: string) => text.replace(/\s+/g, ' ');

test('names tests that there are', () => {
  const references = referencesIn(page);
  assert.ok(references.length > 100, String(references.length));
  const isThere = (path: string) => existsSync(new URL(`../${path}.test.ts`, import.meta.url));
  assert.equal(
    references.filter(({ path }) => !isThere(path)),
    [],
  );
});

test('a row without a test is noticed', () => {
  assert.throws(() => referencesIn('| a line | none of “these” |'), /a line/);
  assert.is(referencesIn('| a line | O/x; core/y |').length, 2);
});

test('has every row of the threat model once, with tests or among those without', () => {
  const rows = linesOfModel(model);
  assert.ok(rows.length > 45, String(rows.length));
  assert.equal([...lines, ...untested(page)].sort(), [...rows].sort());
});

test('a row that is new to the threat model would be missed', () => {
  const row = '| **somebody else** | a | b | c |\n|  | d, [e](f) | g | h |\n';
  const more = linesOfModel(model.replace(/(?<=^\| who .*\n\| -.*\n)/m, row));
  assert.equal(
    more.filter((line) => !linesOfModel(model).includes(line)),
    ['somebody else: a', 'somebody else: d, e'],
  );
});

test('sentences of the page of the proxy stand there, and each of its limits is among them', () => {
  assert.equal(
    sentences.filter((sentence) => !joined(proxy).includes(sentence)),
    [],
  );
  const limits = sectionOf(proxy, 'Limits of what it can notice').split(/^- /m).slice(1);
  assert.ok(limits.length > 5);
  assert.equal(
    limits.filter((limit) => !sentences.some((sentence) => joined(limit).includes(sentence))),
    [],
  );
});

test.run();
