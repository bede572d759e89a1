import { isDeepStrictEqual, stripVTControlCharacters } from 'node:util';
import { wrapped } from '../../../runtime/cli/report-text.ts';
import type { AuditCall, AuditTerms, Output } from '../terms.ts';
import { type AuditedWorkload, titleOf } from './findings.ts';
import type { ClusterReport } from './report.ts';
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

/** One line of `--watch`. `version` is that of this form. */
export interface WorkloadChange {
  readonly version: 1;
  readonly change: 'added' | 'changed' | 'removed';
  readonly workload: AuditedWorkload;
}

/** From one report to the next; at first everything is added. */
function changesBetween(
  before: Pick<ClusterReport, 'workloads'> | undefined,
  now: Pick<ClusterReport, 'workloads'>,
): readonly WorkloadChange[] {
  const old = byTitle(before?.workloads ?? []);
  const current = byTitle(now.workloads);
  const put = [...current].flatMap(([title, workload]) => {
    const known = old.get(title);
    if (isDeepStrictEqual(known, workload)) return [];
    return [change(known === undefined ? 'added' : 'changed', workload)];
  });
  const gone = [...old].flatMap(([title, workload]) =>
    current.has(title) ? [] : [change('removed', workload)],
  );
  return [...put, ...gone];
}

const change = (kind: WorkloadChange['change'], workload: AuditedWorkload): WorkloadChange => ({
  ...{ version: 1, change: kind, workload },
});

const byTitle = (workloads: readonly AuditedWorkload[]) =>
  new Map(workloads.map((one) => [titleOf(one), one]));

/** Writes a text over the last one on a terminal. */
export type Draw = (text: string) => void;

const [home, erase] = ['\u001b[H', '\u001b[2J'];
const [eraseLineEnd, eraseBelow] = ['\u001b[K', '\u001b[J'];

/**
 * Changes no mode of the terminal, so that nothing has to be put right however the process ends, and never scrolls,
 * so that no copies pile up above.
 */
export function createScreen(terminal: Output): Draw {
  let [drawn, size] = ['', ''];
  return (text) => {
    // a serial console says 0
    const [rows, columns] = [terminal.rows || 24, terminal.columns || 80];
    const isNew = size !== `${columns} ${rows}`;
    if (!isNew && drawn === text) return;
    [drawn, size] = [text, `${columns} ${rows}`];
    const lines = fitted(text.split('\n'), rows, columns).map((line) => line + lineEnd(line, columns));
    terminal.write(`${isNew ? erase : ''}${home}${lines.join('')}${eraseBelow}`);
  };
}

/** Behind a line that fills its row the cursor still stands upon the last character. */
function lineEnd(line: string, columns: number): string {
  const length = lengthOf(line);
  return length > 0 && length % columns === 0 ? '\n' : `${eraseLineEnd}\n`;
}

/** As many as fit above the row of the cursor, the last paragraph always among them. */
export function fitted(lines: readonly string[], rows: number, columns: number): readonly string[] {
  const space = rows - 1;
  if (heightOf(lines, columns) <= space) return lines;
  const blank = lines.lastIndexOf('');
  const [body, end] = [lines.slice(0, blank), lines.slice(blank)];
  const head = taken(body, space - heightOf([tooLow(body.length), ...end], columns), columns);
  return taken([...head, tooLow(body.length - head.length), ...end], space, columns);
}

const tooLow = (lines: number) => `… and ${lines} more lines, for which this window is too low`;

function taken(lines: readonly string[], rows: number, columns: number): readonly string[] {
  let left = rows;
  const end = lines.findIndex((line) => {
    left -= heightOf([line], columns);
    return left < 0;
  });
  return end < 0 ? lines : lines.slice(0, end);
}

function heightOf(lines: readonly string[], columns: number): number {
  return lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(lengthOf(line) / columns)), 0);
}

const lengthOf = (line: string): number => stripVTControlCharacters(line).length;
