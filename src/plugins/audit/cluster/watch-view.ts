import { wrapped } from '../../../runtime/cli/report/wrap.ts';
import type { AuditCall } from '../contract.ts';
import type { AuditTerms } from '../terms.ts';
import { changesBetween } from './changes.ts';
import type { ClusterReport } from './report.ts';
import { createScreen } from './screen.ts';
import { reportText } from './write-report.ts';

/**
 * Shows what is known now.
 * @param problem why nothing newer is known, as a sentence; undefined while all is well
 */
export type WatchView = (report: ClusterReport, problem?: string) => void;

/**
 * The table anew on a terminal, otherwise a line of JSON a change.
 * @param onGone called when nobody reads it any more
 */
export function createWatchView(call: AuditCall, terms: AuditTerms, onGone: () => void): WatchView {
  const { stdout, env } = call;
  const isScreen = stdout.isTTY === true && env['TERM'] !== 'dumb';
  return terms.format === 'table' && isScreen ? table(call, terms) : changes(call, onGone);
}

function table(call: AuditCall, terms: AuditTerms): WatchView {
  const draw = createScreen(call.stdout);
  return (report, problem) => {
    const text = reportText(report, call, terms);
    draw(problem === undefined ? text : `${text}\n${wrapped(problem, 98, '  ')}`);
  };
}

function changes({ stdout, stderr }: AuditCall, onGone: () => void): WatchView {
  let [before, told]: [ClusterReport | undefined, string | undefined] = [undefined, undefined];
  const written = (error?: Error | null) => void (error && onGone());
  return (report, problem) => {
    for (const change of changesBetween(before, report)) stdout.write(`${JSON.stringify(change)}\n`, written);
    if (problem !== undefined && problem !== told) stderr.write(`${problem}\n`);
    [before, told] = [report, problem];
  };
}
