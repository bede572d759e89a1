import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { conformanceFile, conformancePage } from '../../scripts/docs/conformance-page.ts';
import { measurements } from '../conformance/s3-suite/measurements.ts';

const test = suite('docs/CONFORMANCE.md');

test('is what the lists of lost rows say', () => {
  assert.is(readFileSync(conformanceFile, 'utf8'), conformancePage(), 'run npm run docs');
});

test('no row is lost for two reasons, or more are lost than pass', () => {
  for (const { suite: name, store, passing, lost } of measurements) {
    const rows = lost.flatMap((cause) => cause.rows);
    assert.is(new Set(rows).size, rows.length, `${name}, ${store}`);
    assert.ok(rows.length < passing, `${name}, ${store}`);
  }
});

test.run();
