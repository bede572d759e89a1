import { readFileSync } from 'node:fs';
import type { Part } from './part.ts';
import { runSuites, TESTS, testNames } from './support/long-suites.ts';

const asks = /\b(repetitions\(|storeKinds\b)/;
const names = testNames().filter((name) => asks.test(readFileSync(`${TESTS}/${name}`, 'utf8')));

/** Suites of `npm test` whose numbers are smaller there. */
export const repetitions: Part = {
  name: 'repetitions',
  summary:
    'suites of `npm test` with more requests, restarts and bytes than there, and MinIO beside versitygw',
  run: (report) => runSuites(report, names, { SVC_TEST_REPETITIONS: 'nightly' }),
};
