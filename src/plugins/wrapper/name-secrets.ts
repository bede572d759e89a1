import type { EnvMap, EnvMapping } from '../../runtime/environment/env-map.ts';
import { steeringFamilyOf } from '../../runtime/environment/steering/index.ts';
import { exitStatus, SvcError } from '../../runtime/errors.ts';
import type { SecretEntry } from '../../runtime/protocols/secret-records/region-writer.ts';
import { errorCount } from '../../runtime/settings/resolve.ts';

export interface Naming {
  /** Group n belongs to document n. */
  readonly envMap: EnvMap | undefined;
  /** Leave out unmapped fields. */
  readonly envMapOnly: boolean;
  /** Under `fd` no name becomes a variable. */
  readonly delivery: 'both' | 'env' | 'fd';
}

/**
 * The secrets of all documents by the names under which they are delivered: a mapped field by its mapped names, any
 * other by its own.
 * @throws SvcError SECRETS_UNUSABLE (exit 78) whose details list every error with path and field
 */
export function nameSecrets(documents: readonly Document[], naming: Naming): readonly Delivered[] {
  const groups = documents.map((_, at) => naming.envMap?.[at] ?? []);
  const missing = documents.flatMap((document, at) => missingIn(document, groups[at] ?? []));
  const delivered = documents.flatMap((document, at) => named(document, groups[at] ?? [], naming.envMapOnly));
  const unasked =
    naming.delivery === 'fd'
      ? []
      : documents.flatMap((one, at) => steering(one, groups[at] ?? [], naming.envMapOnly));
  const errors = [...missing, ...errorsIn(delivered), ...unasked];
  if (errors.length > 0) throw unusable(errors);
  return delivered;
}

function named({ path, fields }: Document, group: readonly EnvMapping[], mapOnly: boolean): Delivered[] {
  const byField = Map.groupBy(group, ({ field }) => field);
  return fields.flatMap(({ name, value }) => {
    const mapped = byField.get(name)?.map(({ variable }) => variable);
    const keys = mapped ?? (mapOnly ? [] : [name]);
    return keys.map((key) => ({ key, value, path, field: name }));
  });
}

function missingIn({ path, fields }: Document, group: readonly EnvMapping[]): string[] {
  const there = new Set(fields.map(({ name }) => name));
  return group
    .filter(({ field }) => !there.has(field))
    .map(
      ({ field, variable }) =>
        `${originOf({ path, field })}: does not exist, but SVC_ENV_MAP maps it to ${variable}`,
    );
}

/** A secret must not decide what the application runs; only SVC_ENV_MAP may. */
function steering({ path, fields }: Document, group: readonly EnvMapping[], mapOnly: boolean): string[] {
  const mapped = new Set(group.map(({ field }) => field));
  const unmapped = fields.filter(({ name }) => !mapOnly && !mapped.has(name));
  return unmapped.flatMap(({ name: field }) => {
    const family = ownVariables.includes(field) ? undefined : steeringFamilyOf(field);
    if (family === undefined) return [];
    const what = `would become a variable that steers ${family.readBy}, which SVC_ENV_MAP does not request`;
    return [`${originOf({ path, field })}: ${what}`];
  });
}

function unusable(errors: readonly string[]): SvcError {
  return new SvcError('SECRETS_UNUSABLE', `The secrets cannot be delivered: ${errorCount(errors)}`, {
    nextStep:
      'Fix the fields in the secrets server, or SVC_ENV_MAP: it names the variable of a field (NAME=NAME to request that name), and SVC_ENV_MAP_ONLY=true leaves out the others.',
    exitStatus: exitStatus.config,
    details: errors,
  });
}

/** Why the secrets cannot be delivered, one reason a line, with path and field, never a value. */
function errorsIn(delivered: readonly Delivered[]): string[] {
  return [...delivered.flatMap(errorIn), ...sharedNames(delivered)];
}

function errorIn(secret: Delivered): string[] {
  const { key, value } = secret;
  const reasons: string[] = [];
  if (key === '') reasons.push('has an empty name');
  if (/[=\0]/.test(key)) reasons.push('has a name with "=" or NUL, which no variable can have');
  if (ownVariables.includes(key)) reasons.push(`has the name ${key}, which the wrapper sets itself`);
  if (value.includes(0)) reasons.push('has a value with a NUL byte, which ends a variable');
  return reasons.map((reason) => `${originOf(secret)}: ${reason}`);
}

function sharedNames(delivered: readonly Delivered[]): string[] {
  const byName = Map.groupBy(delivered, ({ key }) => key);
  return [...byName]
    .filter(([, secrets]) => secrets.length > 1)
    .map(
      ([key, secrets]) => `${secrets.map(originOf).join(' and ')}: have the same name ${JSON.stringify(key)}`,
    );
}

/** The secret at a path. Values are views into protected memory. */
interface Document {
  readonly path: string;
  readonly fields: readonly { readonly name: string; readonly value: Uint8Array }[];
}

/** A secret by its delivered name, and where it comes from. */
export interface Delivered extends SecretEntry {
  readonly path: string;
  readonly field: string;
}

/** `secret/app, field "password"`, for messages. */
export function originOf({ path, field }: Pick<Delivered, 'path' | 'field'>): string {
  return `${path}, field ${JSON.stringify(field)}`;
}

/** Tells the SDK which inherited descriptor holds the secrets. */
export const descriptorVariable = 'SVC_SECRET_FD';

/** Name of the harmless first string of the environment. */
export const dummyVariable = 'SVC_WRAPPED';

/** Variables that the wrapper sets for the application; inherited values are dropped. */
export const ownVariables: readonly string[] = [descriptorVariable, dummyVariable];
