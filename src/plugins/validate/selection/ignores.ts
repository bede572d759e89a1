import type { Check } from '../contract.ts';

/** What does not count, by id: everything that the check says, or what it finds in some subjects. */
export interface Ignores {
  ignoresCheck(id: string): boolean;
  ignoresSubject(id: string, subject: string): boolean;
  /** About ids that no check has. */
  readonly warnings: readonly string[];
}

/** @param given `SVC-…-001` or `SVC-…-001=namespace/name` */
export function readIgnores(given: readonly string[], checks: readonly Check[]): Ignores {
  const whole = new Set<string>();
  const parts = new Set<string>();
  for (const one of given) (one.includes('=') ? parts : whole).add(one);
  const known = new Set(checks.map(({ id }) => id));
  return {
    ignoresCheck: (id) => whole.has(id),
    ignoresSubject: (id, subject) => whole.has(id) || parts.has(`${id}=${subject}`),
    warnings: given
      .filter((one) => !known.has(one.split('=', 1)[0] ?? ''))
      .map((one) => `--ignore ${JSON.stringify(one)}: there is no check with that id`),
  };
}
