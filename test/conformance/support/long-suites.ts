import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { LONG, testFiles } from '../../runner/discover.ts';
import type { Part, Report } from '../part.ts';

export const TESTS = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const LONGEST_FILE_MS = '600000';

export interface LongSuites extends Omit<Part, 'run'> {
  /** Below `test/`, such as `bpf/kernels/`. */
  readonly folders: readonly string[];
}

/** Runs the suites that `npm test` leaves out, one after the other. */
export function longSuites({ folders, ...part }: LongSuites): Part & { readonly names: readonly string[] } {
  const names = testNames().filter(
    (name) => name.endsWith(LONG) && folders.some((folder) => name.startsWith(folder)),
  );
  return { ...part, names, run: (report) => runSuites(report, names) };
}

/** All test files, by their paths below `test/`. */
export const testNames = (): string[] => testFiles(TESTS).map((file) => file.slice(TESTS.length + 1));

/** @param env beside that of this process */
export async function runSuites(
  report: Report,
  names: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<void> {
  const args = [`${TESTS}/runner/main.ts`, '--jobs', '1', '--timeout', LONGEST_FILE_MS, ...names];
  const child = spawn(process.execPath, args, {
    // nobody would see that all of them were skipped
    env: { ...process.env, CI: 'true', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let last = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line !== '') last = line;
    report.say(line);
  });
  const [status] = await once(child, 'close');
  report.check('every suite passes', names.length > 0 && status === 0, last);
}
