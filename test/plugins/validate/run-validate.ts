import { fileURLToPath } from 'node:url';
import type { ValidateFlags } from '../../../src/plugins/validate/read-settings.ts';
import type { CheckReport, ValidateReport } from '../../../src/plugins/validate/report.ts';
import { runCommand } from '../../support/run-command.ts';
import type { CommandResult } from '../../support/types.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
export const entry = `${root}bin/run.js`;

type Flags = Partial<ValidateFlags> & Readonly<Record<string, unknown>>;

/** Runs `svc validate` as it is built, under --pre and as JSON unless told otherwise. */
export function runValidate(flags: Flags, env: Readonly<Record<string, string>>): Promise<CommandResult> {
  return runCommand(process.execPath, [entry, 'validate', ...validateArguments(flags)], root, { env });
}

/** The command line that says these flags; a list is a flag that is repeated. */
export function validateArguments(flags: Flags): string[] {
  const all = Object.entries({ output: 'json', pre: true, ...flags });
  return all.flatMap(([name, value]) => {
    if (typeof value === 'boolean') return value ? [`--${name}`] : [];
    return [value].flat().flatMap((one) => [`--${name}`, String(one)]);
  });
}

/** What of a JSON report is about that check. */
export function reportOf({ stdout }: CommandResult, id: string): CheckReport {
  const report = JSON.parse(stdout) as ValidateReport;
  const found = report.checks.find((one) => one.id === id);
  if (found === undefined) throw new Error(`${id} was not run`);
  return found;
}

/** States by id, of a JSON report. */
export function statesOf({ stdout }: CommandResult): Readonly<Record<string, string>> {
  const report = JSON.parse(stdout) as ValidateReport;
  return Object.fromEntries(report.checks.map(({ id, state }) => [id, state]));
}
