import type { CheckFailure } from '../contract.ts';

const most = 200;

/** Of thousands of alike failures the first 200 are told one by one, the others counted, as the worst of them. */
export function capped(failures: readonly CheckFailure[]): readonly CheckFailure[] {
  const rest = failures.slice(most);
  const has = (level: CheckFailure['level']) => rest.find((one) => one.level === level);
  const worst = has('error') ?? has(undefined) ?? has('warning') ?? rest[0];
  if (worst === undefined) return failures;
  const more = { ...worst, subject: 'cluster', message: `There are ${rest.length} more of the same.` };
  return [...failures.slice(0, most), more];
}
