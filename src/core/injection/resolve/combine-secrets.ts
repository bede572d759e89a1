import type { PlannedSecret } from '../contract.ts';
import type { SecretSource } from './secret-sources.ts';

export interface CombinedSecrets {
  readonly secrets: readonly PlannedSecret[];
  readonly mistakes: readonly string[];
}

/** Linux refuses to start a program with a variable longer than this, name and NUL included. */
const longestVariable = 128 * 1024;

/** One entry a path: sources may agree on a path, and no two fields may become the same variable. */
export function combineSecrets(sources: readonly SecretSource[]): CombinedSecrets {
  const byPath = new Map<string, SecretSource>();
  const mistakes: string[] = [];
  for (const source of sources) {
    const first = byPath.get(source.path);
    if (first === undefined) byPath.set(source.path, source);
    else if (!agree(first, source))
      mistakes.push(
        `${source.place}: names ${source.path}, which ${first.place} names with other variables; they should agree`,
      );
  }
  const taken = [...byPath.values()];
  return {
    secrets: taken.map(({ path, mappings }) => ({ path, mappings })),
    mistakes: [...mistakes, ...repeatedVariables(taken), ...tooLong(taken)],
  };
}

function agree(a: PlannedSecret, b: PlannedSecret): boolean {
  const [one, other] = [itemsOf(a).sort(), itemsOf(b).sort()];
  return one.length === other.length && one.every((item, index) => item === other[index]);
}

function itemsOf({ mappings }: PlannedSecret): string[] {
  return mappings.map(({ field, variable }) => `${field}=${variable}`);
}

function repeatedVariables(sources: readonly SecretSource[]): string[] {
  const given = new Map<string, SecretSource>();
  const mistakes = new Set<string>();
  for (const source of sources)
    for (const { variable } of source.mappings) {
      const first = given.get(variable);
      if (first === undefined) given.set(variable, source);
      else mistakes.add(givenTwice(variable, source, first));
    }
  return [...mistakes];
}

function givenTwice(variable: string, second: SecretSource, first: SecretSource): string {
  return first === second
    ? `${second.place}: ${variable} is given to more than one field of ${second.path}`
    : `${second.place}: ${variable} is given to a field of ${second.path}, and by ${first.place} to one of ${first.path}`;
}

function tooLong(sources: readonly SecretSource[]): string[] {
  const paths = sources.map(({ path }) => path).join(',');
  const map = sources.map((one) => itemsOf(one).join(',')).join(';');
  const longest = Math.max(Buffer.byteLength(paths), Buffer.byteLength(map)) + 'SVC_SECRET_PATHS='.length;
  return longest < longestVariable
    ? []
    : [
        'svc/secret-paths: the paths, or the names of their fields, should fit one variable of 128 KiB together',
      ];
}
