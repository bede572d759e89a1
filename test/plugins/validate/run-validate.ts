import { proxy } from '../../../src/plugins/proxy/index.ts';
import type { ValidateFlags } from '../../../src/plugins/validate/call.ts';
import { validate } from '../../../src/plugins/validate/index.ts';
import type { CheckReport, ValidateReport } from '../../../src/plugins/validate/report.ts';
import type { Component } from '../../../src/runtime/component/contract.ts';

export interface ValidateRun {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

const defaults: ValidateFlags = {
  output: 'json',
  json: false,
  'fail-on': 'error',
  pre: true,
  node: false,
};

/** Runs `svc validate` in this process, under --pre unless told otherwise. */
export async function runValidate(
  flags: Partial<ValidateFlags>,
  env: Readonly<Record<string, string | undefined>>,
  given: Readonly<Record<string, string | boolean>> = {},
): Promise<ValidateRun> {
  const written = { stdout: '', stderr: '' };
  const into = (stream: keyof typeof written) => ({
    isTTY: false,
    write(text: string | Uint8Array) {
      written[stream] += String(text);
      return true;
    },
  });
  const status = await validate({
    flags: { ...defaults, ...flags },
    given,
    env,
    stdout: into('stdout'),
    stderr: into('stderr'),
    version: '1.0.0',
    components: async () => [],
    proxy: async () => proxy as unknown as Component,
  });
  return { status, ...written };
}

/** What of a JSON report is about that check. */
export function reportOf({ stdout }: ValidateRun, id: string): CheckReport {
  const report = JSON.parse(stdout) as ValidateReport;
  const found = report.checks.find((one) => one.id === id);
  if (found === undefined) throw new Error(`${id} was not run`);
  return found;
}

/** States by id, of a JSON report. */
export function statesOf({ stdout }: ValidateRun): Readonly<Record<string, string>> {
  const report = JSON.parse(stdout) as ValidateReport;
  return Object.fromEntries(report.checks.map(({ id, state }) => [id, state]));
}
