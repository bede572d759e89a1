import { exitStatus, SvcError } from '../errors.ts';
import type { BaseCommand } from './base-command.ts';
import { createProgress, interruptible } from './terminal.ts';

/** Milliseconds between two lines of progress. */
const progressMs = 100;

/** Result of a run over many objects. */
interface BulkReport {
  /** Why the run ended early; the report covers the work until then. */
  readonly endedBy: Error | undefined;
}

/** A run over many objects, and its texts. */
interface BulkRun<Counts, Report extends BulkReport> {
  start(run: { readonly signal: AbortSignal; onProgress(counts: Counts): void }): Promise<Report>;
  progressLine(counts: Counts): string;
  /** Lines for people. */
  reportLines(report: Report): readonly string[];
  /** Whether nothing is left to do. */
  isComplete(report: Report): boolean;
}

/**
 * Runs a bulk run for a command, with progress on a terminal and a report at the end, even of a run that ended early.
 * The status is 0 for a complete run, 1 for an incomplete one, that of the error which ended it, or 130 or 143 after a
 * signal.
 * @returns the report for programs; undefined if a signal came before there was one
 */
export async function runBulk<Counts, Report extends BulkReport>(
  command: BaseCommand,
  { start, progressLine, reportLines, isComplete }: BulkRun<Counts, Report>,
): Promise<object | undefined> {
  const progress = createProgress(process.stderr, process.env);
  let shownAt = 0;
  const onProgress = (counts: Counts) => {
    if (performance.now() - shownAt < progressMs) return;
    shownAt = performance.now();
    progress.show(progressLine(counts));
  };
  let report: Report | undefined;
  const status = await interruptible(async (signal) => {
    report = await start({ signal, onProgress });
    signal.throwIfAborted();
    return statusOf(report, isComplete(report));
  }).finally(() => progress.clear());
  if (report === undefined) return command.exit(status);
  for (const line of reportLines(report)) command.log(line);
  if (report.endedBy !== undefined && !command.jsonEnabled()) throw report.endedBy;
  process.exitCode = status;
  return reportJson(report);
}

function statusOf({ endedBy }: BulkReport, complete: boolean): number {
  const { exitStatus: status = exitStatus.internal } = (endedBy ?? {}) as { exitStatus?: number };
  if (endedBy !== undefined) return status;
  return complete ? 0 : exitStatus.failure;
}

function reportJson({ endedBy, ...report }: BulkReport): object {
  if (endedBy === undefined) return report;
  const { message } = endedBy;
  const { code = 'INTERNAL', nextStep } = endedBy instanceof SvcError ? endedBy : {};
  return { ...report, error: { code, message, nextStep } };
}
