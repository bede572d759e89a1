import { isDeepStrictEqual, stripVTControlCharacters } from 'node:util';
import type { KubeClient, KubeObject } from '../../../cluster/kube/client.ts';
import { reflect } from '../../../cluster/kube/reflect.ts';
import { messageOf } from '../../../runtime/errors.ts';
import { sleep, within } from '../../../runtime/lifecycle/wait.ts';
import { createLogger } from '../../../runtime/logging/create-logger.ts';
import type { Logger } from '../../../runtime/logging/logger.ts';
import { printable, reportWidth, wrapped } from '../../../runtime/report/report-text.ts';
import type { AuditCall, AuditOutput, AuditTerms } from '../terms.ts';
import { type ClusterObjects, type Collection, collections, operatorState } from './collections.ts';
import { evaluate } from './evaluate.ts';
import { type AuditedWorkload, titleOf } from './findings.ts';
import { auditedNodes, type ClusterReport, clusterReport } from './report.ts';
import { reportText } from './write-report.ts';

/** How long changes are gathered, and how often the operator is checked if there are none. */
const settleMs = 1_000;
const lookMs = 15_000;

/**
 * Shows changes until the signal is aborted, or until the reader closes the output; then it resolves with the exit
 * status of the last state. The state is kept while the API server is down.
 * @throws the signal's reason
 */
export async function watchCluster(
  client: KubeClient,
  first: ClusterReport,
  call: AuditCall,
  terms: AuditTerms,
  signal: AbortSignal,
): Promise<number> {
  const log = createLogger({ component: 'audit', level: 'error' });
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  let changed = Promise.withResolvers<void>();
  const onChange = () => changed.resolve();
  const cluster = followCluster(client, log, onChange, ended);
  const show = createWatchView(call, terms, () => stop.abort());
  let known: Known = { report: first };
  process.on('SIGWINCH', onChange);
  try {
    show(known.report);
    for (;;) {
      await within(changed.promise, performance.now() + lookMs, ended, () => undefined).catch(() => {});
      await sleep(settleMs, ended);
      changed = Promise.withResolvers<void>();
      known = await look(client, cluster, known, call, terms, ended);
      show(known.report, known.problem);
    }
  } catch (error) {
    // the terminal has echoed ^C, and the shell would continue on the same line
    if (signal.aborted && call.stdout.isTTY) call.stdout.write('\n');
    if (signal.aborted || !stop.signal.aborted) throw error;
    return known.report.outcome.exitStatus;
  } finally {
    process.off('SIGWINCH', onChange);
    stop.abort();
    await cluster.closed;
  }
}

interface Known {
  readonly report: ClusterReport;
  /** Why there is no newer report, as a sentence. */
  readonly problem?: string;
}

async function look(
  client: KubeClient,
  cluster: FollowedCluster,
  before: Known,
  { flags }: AuditCall,
  terms: AuditTerms,
  signal: AbortSignal,
): Promise<Known> {
  const own = flags['operator-namespace'];
  const now = Date.now();
  const operator = await operatorState(client, own, signal, now).catch(messageOf);
  signal.throwIfAborted();
  if (typeof operator === 'string') {
    const since = new Date(now).toISOString();
    return { problem: `No newer state is known since ${since}: ${printable(operator)}.`, ...before };
  }
  if (!cluster.synced) return { report: before.report };
  const found = {
    workloads: evaluate(cluster.objects, operator, own),
    nodes: auditedNodes(cluster.objects, operator, flags.namespace),
  };
  return { report: clusterReport(client.server, found, flags, terms) };
}

/** The current objects of the cluster, followed until the signal is aborted. */
interface FollowedCluster {
  readonly objects: ClusterObjects;
  /** Whether all required resources have been listed. */
  readonly synced: boolean;
  readonly closed: Promise<void>;
}

function followCluster(
  client: KubeClient,
  log: Logger,
  onChange: () => void,
  signal: AbortSignal,
): FollowedCluster {
  const all = Object.entries<unknown>(collections()) as [string, Collection<KubeObject, unknown>][];
  const handlers = { onAdd: onChange, onChange, onDelete: onChange, onListed: onChange };
  const followed = all.map(([name, { path, project, optional = false }]) => {
    const reflector = reflect({ client, log, signal, path, project, ...handlers });
    return { name, optional, reflector };
  });
  const needed = followed.filter(({ optional }) => !optional);
  return {
    objects: Object.fromEntries(
      followed.map(({ name, reflector }) => [name, reflector]),
    ) as unknown as ClusterObjects,
    get synced() {
      return needed.every(({ reflector }) => reflector.synced);
    },
    closed: Promise.all(followed.map(({ reflector }) => reflector.closed)).then(() => {}),
  };
}

/**
 * Shows the current report.
 * @param problem why there is no newer one, as a sentence; undefined if there is no problem
 */
type WatchView = (report: ClusterReport, problem?: string) => void;

/**
 * Redraws the table on a terminal, otherwise writes a line of JSON per change.
 * @param onGone called when the reader has closed the output
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
    draw(problem === undefined ? text : `${text}\n${wrapped(problem, reportWidth, '  ')}`);
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

/** One line of `--watch`. `version` is the version of this format. */
interface WorkloadChange {
  readonly version: 1;
  readonly change: 'added' | 'changed' | 'removed';
  readonly workload: AuditedWorkload;
}

/** Changes from one report to the next; without a previous report everything is added. */
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
  version: 1,
  change: kind,
  workload,
});

const byTitle = (workloads: readonly AuditedWorkload[]) =>
  new Map(workloads.map((one) => [titleOf(one), one]));

/** Writes a text over the last one on a terminal. */
type Draw = (text: string) => void;

const [home, erase] = ['\u001b[H', '\u001b[2J'];
const [eraseLineEnd, eraseBelow] = ['\u001b[K', '\u001b[J'];

/**
 * Changes no terminal mode, so that nothing must be restored however the process ends, and never scrolls, so that
 * copies do not accumulate above.
 */
export function createScreen(terminal: AuditOutput): Draw {
  let [drawn, size] = ['', ''];
  return (text) => {
    // a serial console reports 0
    const [rows, columns] = [terminal.rows || 24, terminal.columns || 80];
    const isNew = size !== `${columns} ${rows}`;
    if (!isNew && drawn === text) return;
    [drawn, size] = [text, `${columns} ${rows}`];
    const lines = fitted(text.split('\n'), rows, columns).map((line) => line + lineEnd(line, columns));
    terminal.write(`${isNew ? erase : ''}${home}${lines.join('')}${eraseBelow}`);
  };
}

/** After a line that fills its row the cursor is still on the last character, which erasing would delete. */
function lineEnd(line: string, columns: number): string {
  const length = lengthOf(line);
  return length > 0 && length % columns === 0 ? '\n' : `${eraseLineEnd}\n`;
}

/** As many lines as fit above the cursor's row, always including the last paragraph. */
function fitted(lines: readonly string[], rows: number, columns: number): readonly string[] {
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
