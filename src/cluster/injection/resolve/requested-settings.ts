import { kvPath } from '../../../keyserver/path.ts';
import { cut } from '../../../runtime/bounds/foreign-text.ts';
import { type EnvMap, variableName } from '../../../runtime/environment/env-map.ts';
import { guarded } from '../../../runtime/settings/resolve.ts';
import { matching, type Parser } from '../../../runtime/settings/setting.ts';
import type { SecretVariables, ServiceConfigSpec } from '../../resources/resources.ts';
import type { PlannedSecret } from '../contract.ts';
import {
  type Annotation,
  annotations,
  containerName,
  listed,
  objectName,
  type Reading,
  readItems,
  readText,
  together,
} from './annotations.ts';

/** A value and its place: the name of an annotation, or `ServiceConfig <name>, <member>`. */
export interface Wish<T> {
  readonly place: string;
  readonly value: T;
}

/** Requested values; undefined: not set. */
export type RequestedSettings = {
  readonly [K in keyof Fields]: Fields[K] extends Field<infer T> ? Wish<T> | undefined : never;
};

export interface NamedConfig {
  readonly name: string;
  readonly spec: ServiceConfigSpec;
}

export interface GatheredSettings {
  /** Reading a setting that has an error throws UnusableSetting. */
  readonly wishes: RequestedSettings;
  readonly errors: readonly string[];
}

/**
 * Takes each setting from the pod's annotation or else the ServiceConfig; a member that an annotation overrides is not
 * validated.
 */
export function gatherRequestedSettings(
  given: Readonly<Record<string, string>>,
  config: NamedConfig | undefined,
): GatheredSettings {
  const wishes: Record<string, unknown> = {};
  const unusable = new Set<string>();
  const errors: string[] = [];
  for (const [key, field] of Object.entries<Field<unknown>>(fields)) {
    const found = find(field, given, config);
    if (found?.reading.errors !== undefined) unusable.add(key);
    errors.push(...(found?.reading.errors ?? []));
    wishes[key] =
      found && 'value' in found.reading ? { place: found.place, value: found.reading.value } : undefined;
  }
  return { wishes: guarded(wishes as RequestedSettings, unusable), errors };
}

interface Found {
  readonly place: string;
  readonly reading: Reading<unknown>;
}

function find(
  { annotation, member }: Field<unknown>,
  given: Readonly<Record<string, string>>,
  config: NamedConfig | undefined,
): Found | undefined {
  if (annotation !== undefined && Object.hasOwn(given, annotation.name)) {
    const place = annotation.name;
    return { place, reading: annotation.read(place, given[place] ?? '') };
  }
  if (member === undefined || config === undefined) return undefined;
  const place = `ServiceConfig ${cut(config.name)}, ${member.name}`;
  const reading = member.read(place, config.spec);
  return reading && { place, reading };
}

type Config = ServiceConfigSpec;

/** One setting of a pod, and the two places where it can be set. */
export interface Field<T> {
  readonly annotation?: { readonly name: string; read(place: string, text: string): Reading<T> };
  /** Member of a ServiceConfig's spec; `read` returns undefined if it is not set. */
  readonly member?: { readonly name: string; read(place: string, spec: Config): Reading<T> | undefined };
}

/** Variable names by the position of their path, or by its name. */
export type RequestedEnvMap =
  | { readonly by: 'position'; readonly groups: EnvMap }
  | { readonly by: 'path'; readonly secrets: readonly PlannedSecret[] };

const path = listed(kvPath());
/** Excludes characters that would end an item of SVC_ENV_MAP, or be stripped there. */
const field = matching(/^(?!\s)[^,;\0]+(?<!\s)$/, 'a field without , and ; and without blanks at its ends');
const variable = matching(variableName, 'the name of a variable of letters, digits, _, - and .');

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
  proxyFormat: {
    annotation: fromAnnotation(annotations.proxyFormat),
    member: fromMember('proxy.format', annotations.proxyFormat, ({ proxy }) => proxy?.format?.toString()),
  },
  proxyRecoveryRecipients: {
    annotation: fromAnnotation(annotations.proxyRecoveryRecipient),
    member: fromMember('proxy.recoveryRecipients', annotations.proxyRecoveryRecipient, ({ proxy }) =>
      proxy?.recoveryRecipients?.join(','),
    ),
  },
  proxyCallerKeys: {
    annotation: fromAnnotation(annotations.proxyCallerKeys),
    ...flag('proxy.callerKeys', ({ proxy }) => proxy?.callerKeys),
  },
  proxyStoreCA: text(annotations.proxyStoreCA, 'proxy.storeCA', ({ proxy }) => proxy?.storeCA),
  proxyCredentials: {
    member: fromMember(
      'proxy.credentialsSecret',
      objectName('Secret'),
      ({ proxy }) => proxy?.credentialsSecret,
    ),
  },
} satisfies Readonly<Record<string, Field<unknown>>>;

type Fields = typeof fields;

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

function envMapField(): Field<RequestedEnvMap> {
  const { name, ...parser } = annotations.envMap;
  const byPosition: Parser<RequestedEnvMap> = {
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

function byPath(reading: Reading<readonly PlannedSecret[]>): Reading<RequestedEnvMap> {
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

/** Paths with their variables, in the form of custom resources. */
export function readSecretVariables(
  place: string,
  secrets: readonly SecretVariables[],
): Reading<readonly PlannedSecret[]> {
  return together(secrets.map((one, index) => readOne(`${place}[${index}]`, one)));
}

function readOne(place: string, secret: SecretVariables): Reading<PlannedSecret> {
  const named = readText(`${place}.path`, secret.path, path);
  const items = Object.entries(secret.variables ?? {}).map(([key, value]) =>
    together([
      readText(`${place}.variables`, key, field),
      readText(`${place}.variables.${cut(key)}`, value, variable),
    ]),
  );
  const errors = [named, ...items].flatMap((one) => one.errors ?? []);
  if (errors.length > 0 || !('value' in named)) return { errors };
  const pairs = items.flatMap((item) => ('value' in item ? [item.value] : []));
  return {
    value: { path: named.value, mappings: pairs.map(([f = '', v = '']) => ({ field: f, variable: v })) },
  };
}
