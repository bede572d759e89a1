import type { ServiceConfigSpec } from '../../custom-resources/service-config.ts';
import type { EnvMap } from '../../env-map/env-map.ts';
import type { Parser } from '../../settings/parsers.ts';
import { kvPath } from '../../vault/kv-path.ts';
import type { PlannedSecret } from '../contract.ts';
import { type Annotation, annotations } from './annotations.ts';
import { containerName, listed, objectName } from './parsers.ts';
import { type Reading, readItems, readText } from './reading.ts';
import { readSecretVariables } from './secret-variables.ts';

type Config = ServiceConfigSpec;

/** One thing that a pod may ask for, and the two places where it can be said. */
export interface Field<T> {
  readonly annotation?: { readonly name: string; read(place: string, text: string): Reading<T> };
  /** Member of a ServiceConfig's spec; `read` gives undefined where it is not set. */
  readonly member?: { readonly name: string; read(place: string, spec: Config): Reading<T> | undefined };
}

/** Names of variables: by the position of their path, or by its name. */
export type EnvMapWish =
  | { readonly by: 'position'; readonly groups: EnvMap }
  | { readonly by: 'path'; readonly secrets: readonly PlannedSecret[] };

export const fields = {
  vaultAddress: text(annotations.vaultAddress, 'vault.address', ({ vault }) => vault?.address),
  vaultRole: text(annotations.vaultRole, 'vault.role', ({ vault }) => vault?.role),
  authMount: text(annotations.vaultAuthMount, 'vault.authMount', ({ vault }) => vault?.authMount),
  skipVerify: flag('vault.skipVerify', ({ vault }) => vault?.skipVerify),
  tokenAudience: text(annotations.tokenAudience, 'vault.tokenAudience', ({ vault }) => vault?.tokenAudience),
  secretPaths: items(annotations.secretPaths, 'secretPaths', listed(kvPath()), (spec) => spec.secretPaths),
  envMap: envMapField(),
  envMapOnly: {
    annotation: fromAnnotation(annotations.envMapOnly),
    ...flag('envMapOnly', (spec) => spec.envMapOnly),
  },
  secretMappings: items(
    annotations.secretMapping,
    'secretMappings',
    objectName('SecretMapping'),
    (spec) => spec.secretMappings,
  ),
  rotation: text(annotations.rotation, 'rotation', (spec) => spec.rotation),
  renewalInterval: text(annotations.renewalInterval, 'renewalInterval', (spec) => spec.renewalInterval),
  delivery: text(annotations.delivery, 'delivery', (spec) => spec.delivery),
  containers: items(annotations.containers, 'containers', containerName(), (spec) => spec.containers),
  command: { annotation: fromAnnotation(annotations.command) },
  proxyEnabled: {
    annotation: fromAnnotation(annotations.s3Proxy),
    ...flag('proxy.enabled', ({ proxy }) => proxy?.enabled),
  },
  proxyRole: text(annotations.proxyRole, 'proxy.role', ({ proxy }) => proxy?.role),
  proxyUpstream: text(annotations.proxyUpstream, 'proxy.upstream', ({ proxy }) => proxy?.upstream),
  proxyTransitKey: text(annotations.proxyTransitKey, 'proxy.transitKey', ({ proxy }) => proxy?.transitKey),
  proxyCallerKeys: {
    annotation: fromAnnotation(annotations.proxyCallerKeys),
    ...flag('proxy.callerKeys', ({ proxy }) => proxy?.callerKeys),
  },
  proxyCredentials: {
    member: fromMember(
      'proxy.credentialsSecret',
      objectName('Secret'),
      ({ proxy }) => proxy?.credentialsSecret,
    ),
  },
} satisfies Readonly<Record<string, Field<unknown>>>;

export type Fields = typeof fields;

function text<T>(
  annotation: Annotation<T>,
  name: string,
  of: (spec: Config) => string | undefined,
): Field<T> {
  return { annotation: fromAnnotation(annotation), member: fromMember(name, annotation, of) };
}

function items(
  annotation: Annotation<readonly string[]>,
  name: string,
  item: Parser<string>,
  of: (spec: Config) => readonly string[] | undefined,
): Field<readonly string[]> {
  return {
    annotation: fromAnnotation(annotation),
    member: {
      name,
      read: (place, spec) => whereSet(of(spec), (texts) => readItems(place, texts, item)),
    },
  };
}

function flag(name: string, of: (spec: Config) => boolean | undefined) {
  const read = (_place: string, spec: Config) => whereSet(of(spec), (value) => ({ value }));
  return { member: { name, read } } satisfies Field<boolean>;
}

function envMapField(): Field<EnvMapWish> {
  const { name, ...parser } = annotations.envMap;
  const byPosition: Parser<EnvMapWish> = {
    ...parser,
    parse: (given) => ({ by: 'position', groups: parser.parse(given) }),
  };
  return {
    annotation: { name, read: (place, given) => readText(place, given, byPosition) },
    member: {
      name: 'envMap',
      read: (place, { envMap }) => whereSet(envMap, (listing) => byPath(readSecretVariables(place, listing))),
    },
  };
}

function byPath(reading: Reading<readonly PlannedSecret[]>): Reading<EnvMapWish> {
  return 'value' in reading ? { value: { by: 'path', secrets: reading.value } } : reading;
}

function fromAnnotation<T>(annotation: Annotation<T>) {
  const { name } = annotation;
  return { name, read: (place: string, given: string) => readText(place, given, annotation) };
}

function fromMember<T>(name: string, parser: Parser<T>, of: (spec: Config) => string | undefined) {
  return {
    name,
    read: (place: string, spec: Config) => whereSet(of(spec), (given) => readText(place, given, parser)),
  };
}

function whereSet<V, T>(value: V | undefined, read: (value: V) => Reading<T>): Reading<T> | undefined {
  return value === undefined || value === null ? undefined : read(value);
}
