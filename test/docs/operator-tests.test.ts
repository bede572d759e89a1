import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { annotationNames } from '../../src/core/injection/resolve/annotations.ts';
import { linesOf, referencesIn } from './operator-tests/references.ts';
import { isTitle, titlesIn, withoutTest } from './operator-tests/titles.ts';

const test = suite('docs/OPERATOR-TESTS.md');

const page = readFileSync(new URL('../../docs/OPERATOR-TESTS.md', import.meta.url), 'utf8');

/** What the specification names in its tables of the operator and its deployment. */
const specified = [
  ...[
    '`ServiceConfig`',
    '`SecretMapping`',
    'NetworkPolicy `svc-egress-<namespace>`',
    'Operator webhook secret',
  ],
  ...['`operator.vaultAddress`', '`operator.ha`', '`operator.replicaCount`', '`operator.leaderElect`'],
  ...['`operator.webhook.certSecret`', '`operator.resources`, `ebpf.resources`', '`enforceMode`'],
  ...['`reactiveKill`', 'webhook `failurePolicy`'],
  ...['`controller_runtime_reconcile_total`', '`controller_runtime_reconcile_errors_total`'],
  ...['`svc_webhook_injection_total`', '`svc_workload_protection_score`'],
];

test('names tests that there are', () => {
  const references = referencesIn(page);
  assert.ok(references.length > 100, String(references.length));
  assert.equal(withoutTest(references), []);
});

test('has every annotation, and every line of the tables', () => {
  const lines = linesOf(page);
  for (const name of [...annotationNames.map((one) => `\`${one}\``), ...specified])
    assert.ok(lines.includes(name), name);
  for (const number of [2, 6, 8, 9, 10, 11])
    assert.ok(
      lines.some((line) => line.startsWith(`${number}: `)),
      `authentication ${number}`,
    );
});

test('says each line once', () => {
  const lines = linesOf(page);
  assert.equal(lines, [...new Set(lines)]);
});

test('titles are found however they are written, and no other', () => {
  const source = [
    "const test = suite('a');",
    "test('one', () => {});",
    'test("it\'s two", async () => {});',
    "test(\n  'three of them',\n  () => {},\n);",
    "other('five', () => {});",
    "// test('six', () => {});",
  ].join('\n');
  assert.equal(titlesIn(source), ['one', "it's two", 'three of them']);
  const template = ['four $', '{x}: done'].join('');
  assert.ok(isTitle(template, 'four 4: done'));
  assert.ok(isTitle(template, 'four …: done'));
  assert.ok(isTitle('one and more', 'one…'));
  assert.not.ok(isTitle('one and more', 'one'));
  assert.not.ok(isTitle('one', 'one and more'));
});

test('a row without a test is noticed', () => {
  assert.throws(() => referencesIn('| a line | none |'), /a line/);
  assert.equal(referencesIn('| a line | O/x “one”, “two”; core/y “three” |').length, 3);
});

test.run();
