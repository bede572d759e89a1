import { select } from './discover.ts';
import type { FileResult } from './events.ts';
import type { RunnerOptions } from './options.ts';
import { failureBlock, fileLines, skipsAsFailures, summaryLine, totals } from './report.ts';
import { runFile } from './run-file.ts';

/** Runs the selected files, prints as it goes, and returns the process's exit status. */
export async function runTests(options: RunnerOptions, print: (text: string) => void): Promise<number> {
  const { files, unmatched } = select(options.root, options.fragments, options.quick);
  const results = await inPool(files, options.jobs, async (file) => {
    const result = await runFile(file, options);
    const judged = options.ci ? skipsAsFailures(result) : result;
    print(fileLines(judged));
    return judged;
  });
  const bad = [
    ...unmatched.map(nothingMatches),
    ...(files.length + unmatched.length === 0 ? [noTests(options)] : []),
  ];
  return conclude([...results, ...bad], print);
}

function conclude(results: FileResult[], print: (text: string) => void): number {
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

async function inPool<T, R>(items: T[], size: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const waiting = items.entries();
  const worker = async () => {
    for (const [index, item] of waiting) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: size }, worker));
  return results;
}
