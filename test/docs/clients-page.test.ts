import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { clientsPage, withTables } from '../../scripts/docs/clients-page.ts';
import { applications } from '../conformance/applications/catalog.ts';
import { readRows } from '../conformance/applications/rows.ts';

const test = suite('docs/CLIENTS.md');

test('has the table of the recorded run: npm run docs', () => {
  const page = readFileSync(clientsPage, 'utf8');
  assert.is(page, withTables(page));
});

test('every application has its row', () => {
  assert.equal(
    readRows().map(({ name }) => name),
    applications.map(({ name }) => name),
  );
});

test('what fails, and what costs twice as much as at the store, has a note', () => {
  const wants = readRows().filter(({ versitygw, minio }) =>
    [versitygw, minio].some((one) => one.result !== 'passes' || one.bytes >= 1.5 || one.requests >= 2),
  );
  assert.equal(
    wants.filter(({ note }) => !note).map(({ name }) => name),
    [],
  );
});

test.run();
