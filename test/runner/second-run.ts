import type { FileResult } from './events.ts';

/** Files that fail for their neighbours' sake are few; where more fail, something is broken. */
const MOST_SECOND_RUNS = 3;

export interface SecondRuns {
  /** One for each file: of its second run where it had one. */
  readonly results: readonly FileResult[];
  /** What files that passed alone had failed with beside others. */
  readonly unsteady: readonly FileResult[];
}

/**
 * Runs the few files that failed beside others once more, each with the host for itself. So a defect, which
 * fails again, is told from a file that asks for more of a small machine than its neighbours leave it. The second
 * kind is a defect of the test: it is reported, and does not make the run a failure.
 */
export async function runFailedAlone(
  first: readonly FileResult[],
  run: (file: string) => Promise<FileResult>,
): Promise<SecondRuns> {
  const failed = first.filter(({ failures }) => failures.length > 0);
  if (failed.length > MOST_SECOND_RUNS) return { results: first, unsteady: [] };
  const second = new Map<string, FileResult>();
  for (const { file } of failed) second.set(file, await run(file));
  return {
    results: first.map((result) => second.get(result.file) ?? result),
    unsteady: failed.filter(({ file }) => second.get(file)?.failures.length === 0),
  };
}
