import { createProgress, interruptible, type Progress, painter } from '../../runtime/cli/terminal.ts';
import { messageOf, SvcError } from '../../runtime/errors.ts';
import { concurrently, sleep } from '../../runtime/lifecycle/wait.ts';
import { secrets } from '../../runtime/logging/secrets.ts';
import { checkStatus, type FailOn } from '../../runtime/report/check-outcome.ts';
import { counted, parseDuration } from '../../runtime/units.ts';
import type { Check, CheckContext } from './check.ts';
import { type ReadSettings, readSettings, type ValidateCall, type ValidateFlags } from './read-settings.ts';
import {
  type CheckSelection,
  checks,
  type Ignores,
  readIgnores,
  reportingOfErrors,
  selected,
} from './registry.ts';
import { type Checked, makeReport, type ValidateReport } from './report.ts';
import { openContext, runCheck } from './run-check.ts';
import type { ValidateFormat } from './settings.ts';

/**
 * Runs the selected checks, writes the report, and resolves with the exit status.
 * @throws SvcError for wrong usage
 */
export async function validate(call: ValidateCall): Promise<number> {
  const terms = readTerms(call.flags);
  const settings = await readSettings(call);
  refuseEmptyRehearsal(terms, settings);
  const ignores = readIgnores(terms.ignore, checks);
  warn(call, ignores);
  return interruptible(async (signal) => {
    const checked = await checkAll(call, terms, settings, ignores, signal);
    const report = makeReport(checked, terms.failOn, ignores);
    await writeReport(report, call, terms);
    return report.outcome.exitStatus;
  });
}

async function checkAll(
  call: ValidateCall,
  terms: Terms,
  settings: ReadSettings,
  ignores: Ignores,
  signal: AbortSignal,
): Promise<readonly Checked[]> {
  const progress = createProgress(call.stderr, call.env);
  const passes = (checked: readonly Checked[]) =>
    makeReport(checked, terms.failOn, ignores).outcome.exitStatus === 0;
  try {
    const some = reportingOfErrors(selected(checks, terms), checks, settings.errors);
    return await untilPassed(some, {
      attempt: (open) => attempt(open, call, settings, terms.pre, signal, progress),
      passes,
      wait: terms.wait,
      signal,
      onPause: (checked) => progress.show(waitingFor(checked)),
    });
  } finally {
    progress.clear();
  }
}

/** Each attempt opens new connections: an unavailable server may have returned at another address. */
async function attempt(
  some: readonly Check[],
  call: ValidateCall,
  settings: ReadSettings,
  pre: boolean,
  signal: AbortSignal,
  progress: Progress,
): Promise<readonly Checked[]> {
  const onProgress = (text: string) => progress.show(text);
  const context = openContext({ call, settings, pre, signal, onProgress });
  try {
    return await runChecks(some, context, (done) => progress.show(`${done} of ${some.length} checks`));
  } finally {
    await context.close();
  }
}

function waitingFor(checked: readonly Checked[]): string {
  const open = changeable(checked).filter(
    ({ result: { state } }) => state === 'failed' || state === 'not-evaluated',
  );
  const [first] = open;
  return `Waiting for ${counted(open.length, 'check')}, ${first?.check.id ?? ''} the first`;
}

function warn({ stderr, env }: ValidateCall, { warnings }: Ignores): void {
  const paint = painter(stderr, env);
  for (const text of warnings) stderr.write(`${paint('yellow', 'Warning:')} ${text}\n`);
}

/** Redacts every registered secret, which texts from servers may contain. */
export async function writeReport(report: ValidateReport, call: ValidateCall, terms: Terms): Promise<void> {
  const text = await inFormat(report, call, terms);
  call.stdout.write(`${secrets.redact(text)}\n`);
}

async function inFormat(
  report: ValidateReport,
  { stdout, env, version }: ValidateCall,
  { format, failOn }: Terms,
): Promise<string> {
  switch (format) {
    case 'table':
      return (await import('./output.ts')).tableReport(report, painter(stdout, env));
    case 'short':
      return (await import('./output.ts')).shortReport(report);
    case 'json':
      return JSON.stringify(report, null, 2);
    case 'junit':
      return (await import('./output.ts')).junitReport(report, failOn);
    case 'sarif':
      return (await import('./output.ts')).sarifReport(report, version);
  }
}

const pauseMs = 3_000;

export interface Attempts {
  /** Runs checks once. */
  readonly attempt: (checks: readonly Check[]) => Promise<readonly Checked[]>;
  /** Whether the outcome counts as passed. */
  readonly passes: (checked: readonly Checked[]) => boolean;
  /** Milliseconds; undefined for a single attempt. */
  readonly wait: number | undefined;
  readonly signal: AbortSignal;
  /** Called before each pause. */
  readonly onPause: (checked: readonly Checked[]) => void;
}

/**
 * Repeats checks that did not pass until they do, the time is over, or the remaining ones lack a setting, which no
 * waiting provides. Passed checks are not repeated.
 */
export async function untilPassed(checks: readonly Check[], attempts: Attempts): Promise<readonly Checked[]> {
  const { attempt, passes, wait = 0, signal, onPause } = attempts;
  const end = performance.now() + wait;
  let checked = await attempt(checks);
  while (!isSettled(checked, passes) && performance.now() < end) {
    onPause(checked);
    await sleep(Math.min(pauseMs, Math.max(0, end - performance.now())), signal);
    const open = checked.filter(({ result }) => result.state !== 'passed').map(({ check }) => check);
    const again = new Map((await attempt(open)).map((one) => [one.check, one]));
    checked = checked.map((one) => again.get(one.check) ?? one);
  }
  return checked;
}

/** Whether the outcome passes, disregarding checks that lack a setting. */
function isSettled(checked: readonly Checked[], passes: Attempts['passes']): boolean {
  const rest = changeable(checked);
  return passes(checked) || rest.length === 0 || passes(rest);
}

/** Results other than those that lack a setting, which the next attempt cannot change. */
const changeable = (checked: readonly Checked[]): readonly Checked[] =>
  checked.filter(({ result }) => !('unset' in result));

const atATime = 8;

/**
 * Runs all checks, even if some fail; results in order. After an interruption it rejects once objects that checks have
 * created are removed.
 * @param onDone gets the number of finished checks
 */
export async function runChecks(
  checks: readonly Check[],
  context: CheckContext,
  onDone: (done: number) => void,
): Promise<readonly Checked[]> {
  let done = 0;
  const running: Promise<Checked>[] = [];
  const one = async (check: Check): Promise<Checked> => {
    const result = await runCheck(check, context);
    done += 1;
    onDone(done);
    return { check, result };
  };
  try {
    return await concurrently(checks, atATime, (check) => {
      const started = one(check);
      running.push(started);
      return started;
    });
  } finally {
    await Promise.allSettled(running);
  }
}

/** The selection of checks, and how findings are reported. */
export interface Terms extends CheckSelection {
  readonly format: ValidateFormat;
  readonly failOn: FailOn;
  /** Milliseconds; undefined for a single attempt. */
  readonly wait: number | undefined;
  /** `SVC-…-001` or `SVC-…-001=namespace/name`. */
  readonly ignore: readonly string[];
}

const maxWaitMs = 24 * 3_600_000;

/** @throws SvcError VALIDATE_USAGE listing every error */
export function readTerms(flags: ValidateFlags): Terms {
  const errors = unknownChecks(flags);
  const terms: Terms = {
    format: flags.json ? 'json' : flags.output,
    failOn: flags['fail-on'],
    wait: flags.wait === undefined ? undefined : waitOf(flags.wait, errors),
    ignore: flags.ignore ?? [],
    pre: flags.pre,
    node: flags.node,
    rehearsal: flags['rehearse-recovery'],
    areas: flags.area ?? [],
    ids: flags.check ?? [],
  };
  if (errors.length === 0) return terms;
  throw wrongUsage(errors);
}

const wrongUsage = (details: readonly string[]) =>
  new SvcError('VALIDATE_USAGE', 'svc validate was called wrongly', {
    nextStep: 'Run `svc validate --help` to see what it takes.',
    exitStatus: checkStatus.usage,
    details,
  });

/** @throws SvcError VALIDATE_USAGE: a rehearsal that cannot begin must not pass */
function refuseEmptyRehearsal({ rehearsal }: Terms, { config, errors }: ReadSettings): void {
  if (!rehearsal || (config.bucket !== undefined && config.recoveryKey !== undefined)) return;
  throw wrongUsage([...errors, '--rehearse-recovery: needs --bucket and --recovery-key']);
}

function unknownChecks({ check = [] }: ValidateFlags): string[] {
  return check
    .filter((wanted) => !checks.some(({ id }) => id === wanted))
    .map((wanted) => `--check: there is no check ${JSON.stringify(wanted)}`);
}

function waitOf(text: string, errors: string[]): number | undefined {
  try {
    const milliseconds = parseDuration(text);
    if (milliseconds > 0 && milliseconds <= maxWaitMs) return milliseconds;
    errors.push('--wait: should be from 1ms to 24h');
  } catch (error) {
    errors.push(`--wait: should be a duration such as 5m (${messageOf(error)})`);
  }
  return undefined;
}
