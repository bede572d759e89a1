import { existsSync } from 'node:fs';
import { isIdle, select } from './discover.ts';
import type { FileResult } from './events.ts';
import { runInLanes } from './lanes.ts';
import type { RunnerOptions } from './options.ts';
import { failureBlock, fileLines, skipsAsFailures, summaryLine, totals } from './report.ts';
import { runFile } from './run-file.ts';
import { untilSpareTime } from './spare-time.ts';
import { NOTHING_TO_BUILD, type Testbed } from './testbed.ts';
import { dearest, longestFirst, readTimes, writeTimes } from './times.ts';

/**
 * Runs the selected files, prints as it goes, and returns the process's exit status.
 * @param testbed what builds the tools that suites wait for
 */
export async function runTests(
  options: RunnerOptions,
  print: (text: string) => void,
  testbed: Testbed = NOTHING_TO_BUILD,
): Promise<number> {
  const { files, unmatched } = select(options.root, options.fragments, options.quick);
  const run = async (file: string) => {
    const result = await runFile(file, { ...options, env: testbed.environment() });
    const judged = options.ci ? skipsAsFailures(result) : result;
    print(fileLines(judged));
    if (judged.failures.length > 0) print(failureBlock(judged));
    return judged;
  };
  const { kubernetes, hurry } = testbed;
  const lanes = { jobs: options.jobs, kubernetes, hurry, isIdle, untilSpareTime };
  const results = await runInLanes(longestFirst(files, readTimes(options.times)), lanes, run);
  if (options.times !== undefined) writeTimes(options.times, results, existsSync);
  if (options.dearest) print(`\n${dearest(results)}`);
  const bad = [
    ...unmatched.map(nothingMatches),
    ...(files.length + unmatched.length === 0 ? [noTests(options)] : []),
  ];
  return conclude([...results, ...bad], print);
}

function conclude(results: readonly FileResult[], print: (text: string) => void): number {
  for (const result of results) if (result.failures.length > 0) print(`\n${failureBlock(result)}`);
  const sum = totals(results);
  print(`\n${summaryLine(sum)}`);
  return sum.failed > 0 ? 1 : 0;
}

function selectionFailure(file: string, error: string): FileResult {
  return {
    file,
    passed: 0,
    failures: [{ name: 'selection', error }],
    skips: [],
    milliseconds: 0,
    output: '',
  };
}

function nothingMatches(fragment: string): FileResult {
  return selectionFailure(fragment, 'No test file has this in its path.');
}

function noTests({ root }: RunnerOptions): FileResult {
  return selectionFailure(root, 'There are no test files here.');
}
