import { counted } from '../../core/counted.ts';
import { interruptible } from '../../runtime/cli/interruptible.ts';
import { createProgress, type Progress } from '../../runtime/cli/progress.ts';
import { painter } from '../../runtime/cli/terminal.ts';
import type { ValidateCall } from './call.ts';
import { openContext } from './context.ts';
import type { Check } from './contract.ts';
import { type Checked, makeReport } from './make-report.ts';
import { writeReport } from './output/write-report.ts';
import { type ReadSettings, readSettings } from './read-settings.ts';
import { checks } from './registry.ts';
import { runChecks } from './run/run-checks.ts';
import { untilPassed } from './run/until-passed.ts';
import { type Ignores, readIgnores } from './selection/ignores.ts';
import { selected, tellingOfMistakes } from './selection/select.ts';
import { readTerms, type Terms } from './terms.ts';

/**
 * Checks what the flags name, writes the report, and resolves with the exit status.
 * @throws SvcError where it was called wrongly
 */
export async function validate(call: ValidateCall): Promise<number> {
  const terms = readTerms(call.flags);
  const settings = await readSettings(call);
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
    const some = tellingOfMistakes(selected(checks, terms), checks, settings.mistakes);
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

/** Connections are of one attempt: what was away may have come back elsewhere. */
async function attempt(
  some: readonly Check[],
  call: ValidateCall,
  settings: ReadSettings,
  pre: boolean,
  signal: AbortSignal,
  progress: Progress,
): Promise<readonly Checked[]> {
  const context = openContext({ call, settings, pre, signal });
  try {
    return await runChecks(some, context, (done) => progress.show(`${done} of ${some.length} checks`));
  } finally {
    await context.close();
  }
}

function waitingFor(checked: readonly Checked[]): string {
  const open = checked.filter(({ result }) => result.state === 'failed' || result.state === 'not-evaluated');
  const [first] = open;
  return `Waiting for ${counted(open.length, 'check')}, ${first?.check.id ?? ''} the first`;
}

function warn({ stderr, env }: ValidateCall, { warnings }: Ignores): void {
  const paint = painter(stderr, env);
  for (const text of warnings) stderr.write(`${paint('yellow', 'Warning:')} ${text}\n`);
}
