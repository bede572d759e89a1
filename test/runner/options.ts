import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export interface RunnerOptions {
  root: string;
  fragments: string[];
  quick: boolean;
  /** With CI=true a skipped test is a failure. */
  ci: boolean;
  jobs: number;
  timeout: number;
  exitGrace: number;
  /** Shows the ten files that took most of the processor. */
  dearest: boolean;
  /** File that keeps what each file took; undefined for suites that are not this repository's. */
  times: string | undefined;
}

const TESTS = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const TIMES = fileURLToPath(new URL('../../.cache/test-times.tsv', import.meta.url));
const USAGE =
  'Usage: node test/runner/main.ts [--quick] [--jobs N] [--timeout MS] [--exit-grace MS] [--times FILE] [--dearest] [path-fragment …]';

/** Files that need no server are short, and some of them wait. */
const usualJobs = (quick: boolean): string => (quick ? '4' : '2');

function positive(value: string, name: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number <= 0)
    throw new Error(`--${name} must be a whole number above 0. ${USAGE}`);
  return number;
}

/** Reads the command line; throws an Error with the usage on anything unknown. */
export function readOptions(
  argv: string[],
  env: NodeJS.ProcessEnv,
  defaultRoot: string = TESTS,
): RunnerOptions {
  const { values, positionals } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      root: { type: 'string', default: defaultRoot },
      jobs: { type: 'string' },
      timeout: { type: 'string', default: '120000' },
      times: { type: 'string' },
      dearest: { type: 'boolean', default: false },
      'exit-grace': { type: 'string', default: '5000' },
    },
  });
  return {
    root: values.root,
    fragments: positionals,
    quick: values.quick,
    ci: env['CI'] === 'true',
    jobs: positive(values.jobs ?? env['SVC_TEST_JOBS'] ?? usualJobs(values.quick), 'jobs'),
    timeout: positive(values.timeout, 'timeout'),
    exitGrace: positive(values['exit-grace'], 'exit-grace'),
    dearest: values.dearest,
    times: values.times ?? (values.root === TESTS ? TIMES : undefined),
  };
}
