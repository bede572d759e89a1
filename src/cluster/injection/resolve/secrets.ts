import { cut, cutList, messagesOn } from '../../../runtime/bounds/foreign-text.ts';
import { hint } from '../../../runtime/settings/resolve.ts';
import { type TooLarge, tooLargeError } from '../../kube/known-objects.ts';
import type { SecretMappingSpec } from '../../resources/resources.ts';
import type { PlannedSecret } from '../contract.ts';
import {
  type RequestedEnvMap,
  type RequestedSettings,
  readSecretVariables,
  type Wish,
} from './requested-settings.ts';

interface SecretSource extends PlannedSecret {
  readonly place: string;
}

export interface SecretSources {
  readonly sources: readonly SecretSource[];
  readonly errors: readonly string[];
}

/** Secrets of the listed paths, each with its mappings. */
export function listedSecrets({ secretPaths, envMap }: RequestedSettings): SecretSources {
  const place = secretPaths?.place ?? '';
  const indexes = new Map(secretPaths?.value.map((path, index) => [path, index]));
  const sources = [...indexes].map(([path, index]) => ({
    ...{ place, path },
    mappings: mappingsOf(envMap?.value, path, index),
  }));
  return { sources, errors: [...repeatedPaths(secretPaths), ...strayMappings(envMap, secretPaths)] };
}

function mappingsOf(
  map: RequestedEnvMap | undefined,
  path: string,
  index: number,
): PlannedSecret['mappings'] {
  if (map === undefined) return [];
  if (map.by === 'position') return map.groups[index] ?? [];
  return map.secrets.filter((one) => one.path === path).flatMap(({ mappings }) => mappings);
}

function repeatedPaths(paths: Wish<readonly string[]> | undefined): string[] {
  if (paths === undefined || new Set(paths.value).size === paths.value.length) return [];
  const known = new Set<string>();
  const twice = new Set<string>();
  for (const path of paths.value) (known.has(path) ? twice : known).add(path);
  return [`${paths.place}: each path should be named once, ${cutList([...twice])} is repeated`];
}

function strayMappings(
  map: Wish<RequestedEnvMap> | undefined,
  paths: Wish<readonly string[]> | undefined,
): readonly string[] {
  if (map === undefined) return [];
  const { place, value } = map;
  return value.by === 'position'
    ? strayGroups(place, value.groups.length, paths)
    : strayPaths(place, value.secrets, paths);
}

function strayGroups(
  place: string,
  groups: number,
  paths: Wish<readonly string[]> | undefined,
): readonly string[] {
  const count = paths?.value.length ?? 0;
  if (groups <= count) return [];
  const named = `${paths?.place ?? 'svc/secret-paths'} names ${count}`;
  return [`${place}: has ${groups} groups, should have at most one per path, and ${named}`];
}

/**
 * If an annotation names other paths than the ServiceConfig, the ServiceConfig's mappings for its own paths are
 * ignored.
 */
function strayPaths(
  place: string,
  secrets: readonly PlannedSecret[],
  paths: Wish<readonly string[]> | undefined,
): string[] {
  if (paths?.place.startsWith('svc/')) return [];
  const stray = secrets.filter(({ path }) => !paths?.value.includes(path));
  return messagesOn(stray, ({ path }) => `${place}: ${cut(path)} should be one of secretPaths`);
}

/** Names in which a mistyped one is looked for, which takes a while for each. */
const maxCompared = 100;

/** Secrets of the named SecretMappings. */
export function mappedSecrets(
  { secretMappings }: RequestedSettings,
  namespace: string,
  known: ReadonlyMap<string, SecretMappingSpec & TooLarge>,
): SecretSources {
  const alike = [...known.keys()].slice(0, maxCompared);
  const found = [...new Set(secretMappings?.value)].map((name) => {
    const place = `${secretMappings?.place} (SecretMapping ${cut(name)})`;
    const spec = known.get(name);
    return spec === undefined
      ? { sources: [], errors: [missing(secretMappings?.place, name, namespace, alike)] }
      : sourcesOf(place, spec);
  });
  return {
    sources: found.flatMap(({ sources }) => sources),
    errors: found.flatMap(({ errors }) => errors),
  };
}

function missing(
  place: string | undefined,
  name: string,
  namespace: string,
  known: readonly string[],
): string {
  return `${place}: namespace ${namespace} has no SecretMapping ${cut(name)}${hint(name, known)}`;
}

function sourcesOf(place: string, { secrets, tooLarge }: SecretMappingSpec & TooLarge): SecretSources {
  if (tooLarge) return { sources: [], errors: [tooLargeError(place)] };
  const reading = readSecretVariables(`${place}, secrets`, secrets);
  if (!('value' in reading)) return { sources: [], errors: reading.errors };
  return { sources: reading.value.map((one) => ({ ...one, place })), errors: [] };
}

export interface CombinedSecrets {
  readonly secrets: readonly PlannedSecret[];
  readonly errors: readonly string[];
}

/** Linux refuses to start a program with a longer variable, including name and NUL. */
const longestVariable = 128 * 1024;

/**
 * Merges the sources into one entry for each path: sources may repeat a path, but no two fields may become the same
 * variable.
 */
export function combineSecrets(sources: readonly SecretSource[]): CombinedSecrets {
  const byPath = new Map<string, SecretSource>();
  const differing: { source: SecretSource; first: SecretSource }[] = [];
  for (const source of sources) {
    const first = byPath.get(source.path);
    if (first === undefined) byPath.set(source.path, source);
    else if (!agree(first, source)) differing.push({ source, first });
  }
  const errors = messagesOn(
    differing,
    ({ source, first }) =>
      `${source.place}: names ${cut(source.path)}, which ${first.place} names with other variables; they should agree`,
  );
  const taken = [...byPath.values()];
  return {
    secrets: taken.map(({ path, mappings }) => ({ path, mappings })),
    errors: [...errors, ...repeatedVariables(taken), ...tooLong(taken)],
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
  const twice = sources.flatMap((second) => {
    const repeated = second.mappings.filter(({ variable }) => {
      if (given.has(variable)) return true;
      given.set(variable, second);
      return false;
    });
    const names = new Set(repeated.map(({ variable }) => variable));
    return [...names].map((variable) => ({ variable, second, first: given.get(variable) ?? second }));
  });
  return messagesOn(twice, ({ variable, second, first }) => givenTwice(cut(variable), second, first));
}

function givenTwice(variable: string, second: SecretSource, first: SecretSource): string {
  const path = cut(second.path);
  return first === second
    ? `${second.place}: ${variable} is given to more than one field of ${path}`
    : `${second.place}: ${variable} is given to a field of ${path}, and by ${first.place} to one of ${cut(first.path)}`;
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
