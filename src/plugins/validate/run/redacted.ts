import { secrets } from '../../../runtime/logging/secrets.ts';
import type { CheckResult } from '../contract.ts';

/**
 * Without the secrets that are known while the check runs: when the attempt is over its tokens are forgotten, and when
 * the report is written its texts may be escaped for XML.
 */
export function redacted(result: CheckResult): CheckResult {
  switch (result.state) {
    case 'failed': {
      const failures = result.failures.map(({ subject, message, ...rest }) => ({
        ...rest,
        subject: clean(subject),
        message: clean(message),
      }));
      const { unknown } = result;
      const kept = unknown && { unknown: { ...unknown, reason: clean(unknown.reason) } };
      return { ...result, failures, ...kept };
    }
    case 'passed':
      return {
        ...result,
        ...(result.note !== undefined && { note: clean(result.note) }),
        ...(result.trusted !== undefined && { trusted: clean(result.trusted) }),
      };
    default:
      return { ...result, reason: clean(result.reason) };
  }
}

const clean = (text: string) => secrets.redact(text);
