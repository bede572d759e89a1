import { relative } from 'node:path';
import type { Failure, FileResult } from './events.ts';

export interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

/** With CI=true every skip counts as a failure, because nobody reads that a suite was left out. */
export function skipsAsFailures(result: FileResult): FileResult {
  const failures = result.skips.map(({ name, reason, count }): Failure => {
    return { name, error: `Skipped although CI=true (${count} of its tests): ${reason}` };
  });
  return { ...result, failures: [...result.failures, ...failures], skips: [] };
}

export function totals(results: readonly FileResult[]): Totals {
  const sum = (count: (result: FileResult) => number) =>
    results.reduce((total, result) => total + count(result), 0);
  return {
    passed: sum((result) => result.passed),
    failed: sum((result) => result.failures.length),
    skipped: sum((result) => result.skips.reduce((total, skip) => total + skip.count, 0)),
  };
}

export function summaryLine({ passed, failed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

/** One line for the file, followed by the reason of each skip. */
export function fileLines(result: FileResult): string {
  const counts = totals([result]);
  const mark = counts.failed > 0 ? 'FAIL' : counts.skipped > 0 ? 'skip' : 'ok  ';
  const cpu = result.cpuMilliseconds === undefined ? '' : `, ${result.cpuMilliseconds} ms of CPU`;
  const time = `${Math.round(result.milliseconds)} ms${cpu}`;
  const head = `${mark} ${relative(process.cwd(), result.file)}  ${summaryLine(counts)}  ${time}`;
  return [head, ...result.skips.map(({ name, reason }) => `     skipped ${name}: ${reason}`)].join('\n');
}

/** Everything there is to know about a file's failures. */
export function failureBlock(result: FileResult): string {
  const file = relative(process.cwd(), result.file);
  const blocks = result.failures.map(({ name, error }) => `✘ ${file} › ${name}\n${indent(error)}`);
  const output = result.output.trim() ? `  its output:\n${indent(result.output.trimEnd())}` : '';
  return [...blocks, output].filter(Boolean).join('\n');
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ');
}
