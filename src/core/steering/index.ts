import { conventions } from './conventions.ts';
import type { SteeringFamily } from './family.ts';
import { libraries } from './libraries.ts';
import { Patterns } from './patterns.ts';
import { programs } from './programs.ts';
import { runtimes } from './runtimes.ts';
import { services } from './services.ts';

export type { SteeringFamily };

/**
 * Whole prefixes where a program reserves one, since its next version may add a name, but not where credentials have the
 * same prefix. A name that is listed although a convention covers it is reported with the program that reads it.
 */
export const steeringFamilies: readonly SteeringFamily[] = [
  ...programs,
  ...runtimes,
  ...libraries,
  ...services,
  ...conventions,
];

/** Harmless names that match a pattern. */
const exceptions: ReadonlySet<string> = new Set(['NODE_ENV']);

/** The family that a variable belongs to; undefined if a secret may use the name. */
export function steeringFamilyOf(name: string): SteeringFamily | undefined {
  if (exceptions.has(name)) return undefined;
  const { asWritten, inAnyCase } = patterns();
  return inAnyCase.find(name.toLowerCase()) ?? asWritten.find(name);
}

let filed: ReturnType<typeof file> | undefined;
/** Not before a name is asked for: most commands never do. */
const patterns = () => (filed ??= file());

function file() {
  const asWritten = new Patterns<SteeringFamily>();
  const inAnyCase = new Patterns<SteeringFamily>();
  for (const family of steeringFamilies)
    for (const name of family.names) {
      if (family.anyCase) inAnyCase.add(name.toLowerCase(), family);
      else asWritten.add(name, family);
    }
  return { asWritten, inAnyCase };
}
