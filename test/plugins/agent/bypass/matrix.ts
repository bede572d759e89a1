import type { Test } from 'uvu';
import * as assert from 'uvu/assert';
import type { AccessPathEntry } from '../../../support/bypass/types.ts';
import {
  type AccessPathRow,
  accessPathRows,
  lacking,
  reusedPid,
  type Where,
  wrapperRows,
} from './access-paths.ts';
import type { AccessEventLine, AttemptRecord, DriverRecord, PhaseRecord } from './driver/records.ts';
import { expectationOf, isEnforcing } from './expectation.ts';
import type { JudgedPhase } from './phases.ts';

export interface Matrix {
  readonly phases: readonly JudgedPhase[];
  readonly on: Where;
  /** What the driver said; empty as long as it has not. */
  readonly records: () => readonly DriverRecord[];
}

/** A test for each attack path in each phase, all of what one run of the driver has said. */
export function declareMatrix(test: Test, matrix: Matrix): void {
  test('the driver carried out everything', () => {
    assert.equal(matrix.records().at(-1), { kind: 'end', phases: matrix.phases.length });
  });
  for (const phase of matrix.phases) declarePhase(test, matrix, phase);
}

function declarePhase(test: Test, matrix: Matrix, phase: JudgedPhase): void {
  test(`${phase.name}: the agent says what it is, and counts what it logs`, () =>
    judgePhase(phase, phaseOf(matrix, phase)));
  for (const row of accessPathRows.filter((row) => !row.onlyCgroup || phase.by === 'cgroup')) {
    const isLacking = lacking.some(({ path, on }) => path === row.path && isIn(on, matrix.on));
    const judge = isLacking ? judgeLacking : judgeAccessPath;
    test(`${phase.name}: ${row.path}`, () =>
      judge(row, phase, attemptOf(matrix, phase, row.path), matrix.on));
  }
  test(`${phase.name}: ${reusedPid}`, () => judgeReusedPid(attemptOf(matrix, phase, reusedPid)));
}

/** The table and the program have the same attack paths, by the same titles. */
export function compareAccessPaths(entries: readonly AccessPathEntry[]): void {
  const titles = new Map([...accessPathRows, ...wrapperRows].map(({ path, title }) => [path, title]));
  for (const { path, title } of entries) assert.is(titles.get(path), title, path);
}

function judgePhase(phase: JudgedPhase, record: PhaseRecord): void {
  assert.is(record.tier, phase.tier);
  assert.is(record.enforcing, isEnforcing(phase));
  assert.is(record.held, 0);
  assert.equal(record.counted, record.logged);
}

const isIn = (on: Where | 'both', machine: Where) => on === 'both' || on === machine;

function judgeAccessPath(row: AccessPathRow, phase: JudgedPhase, attempt: AttemptRecord): void {
  const { outcome, hit } = expectationOf(row, phase);
  const said = JSON.stringify(attempt);
  assert.is(attempt.outcome, attempt.disturbed ? 'killed' : outcome, said);
  if (outcome === 'refused') assert.is(attempt.errno, 'FAILED_PRECONDITION', said);
  if (hit === undefined || !row.each) assert.is(attempt.hits.length, hit === undefined ? 0 : 1, said);
  else assert.ok(attempt.hits.length > 0, said);
  const path = (phase.tier === 3 ? row.tracedReport : undefined) ?? row.report ?? 'none';
  for (const each of attempt.hits) judgeAccessEvent(row, attempt, { ...each, wanted: hit, wantedPath: path });
}

type JudgedAccessEvent = AccessEventLine & {
  readonly wanted: string | undefined;
  readonly wantedPath: string;
};

function judgeAccessEvent(
  { call, caller }: AccessPathRow,
  attempt: AttemptRecord,
  hit: JudgedAccessEvent,
): void {
  assert.is(hit.outcome, hit.wanted);
  assert.is(hit.road, hit.wantedPath);
  assert.is(hit.syscall, call);
  if (caller === 'holder') {
    assert.is(hit.sourceComm, 'exe');
    return;
  }
  assert.is(hit.sourcePid, attempt.attacker);
  assert.match(hit.sourceComm, caller === 'worker' ? /^(bypass|iou-wrk-\d+)$/ : /^bypass$/);
}

/** A path that leads nowhere here may be denied before that shows; it never leaks. A device may be there after all. */
function judgeLacking(row: AccessPathRow, phase: JudgedPhase, attempt: AttemptRecord, on: Where): void {
  const isThere = row.report === 'kernel_memory' && attempt.errno !== 'ENOENT' && on !== 'arm64';
  if (isThere) return judgeAccessPath(row, phase, attempt);
  const nothing = on === 'arm64' ? ['unavailable', 'failed'] : ['unavailable'];
  const outcomes = phase.mode === undefined ? nothing : [...nothing, 'denied', 'killed'];
  assert.ok(outcomes.includes(attempt.outcome), JSON.stringify(attempt));
  assert.ok(attempt.hits.length <= 1, JSON.stringify(attempt));
}

function judgeReusedPid(attempt: AttemptRecord): void {
  assert.is(attempt.outcome, 'leaked', JSON.stringify(attempt));
  assert.equal(attempt.hits, []);
}

function attemptOf({ records }: Matrix, phase: JudgedPhase, path: string): AttemptRecord {
  const found = records().filter(
    (record) => record.kind === 'attempt' && record.phase === phase.name && record.path === path,
  );
  assert.is(found.length, 1, `attempts on ${path}`);
  return found[0] as AttemptRecord;
}

function phaseOf({ records }: Matrix, phase: JudgedPhase): PhaseRecord {
  const found = records().filter((record) => record.kind === 'phase' && record.phase === phase.name);
  assert.is(found.length, 1, 'records of the phase');
  return found[0] as PhaseRecord;
}
