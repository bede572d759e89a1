import { painter } from '../../../runtime/cli/terminal.ts';
import { secrets } from '../../../runtime/logging/secrets.ts';
import type { ValidateCall } from '../call.ts';
import type { ValidateReport } from '../report.ts';
import type { Terms } from '../terms.ts';

/** Whatever servers have said, no secret that is known leaves with it. */
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
      return (await import('./table.ts')).tableReport(report, painter(stdout, env));
    case 'short':
      return (await import('./short.ts')).shortReport(report);
    case 'json':
      return JSON.stringify(report, null, 2);
    case 'junit':
      return (await import('./junit.ts')).junitReport(report, failOn);
    case 'sarif':
      return (await import('./sarif.ts')).sarifReport(report, version);
  }
}
