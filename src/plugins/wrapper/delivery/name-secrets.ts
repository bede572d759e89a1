import type { EnvMap, Mapping } from '../../../core/env-map/env-map.ts';
import { exitStatus, SvcError } from '../../../core/errors.ts';
import { mistakeCount } from '../../../core/settings/mistake-count.ts';
import { type Delivered, type Document, originOf } from './delivered.ts';
import { mistakesIn } from './mistakes.ts';

export interface Naming {
  /** Group n belongs to document n. */
  readonly envMap: EnvMap | undefined;
  /** Leave out the fields that no group maps. */
  readonly envMapOnly: boolean;
}

/**
 * The secrets of all documents under the names by which they are delivered: a mapped field under its
 * mapped names, any other under its own.
 * @throws SvcError SECRETS_UNUSABLE (exit 78) whose details name the paths and fields of every mistake
 */
export function nameSecrets(documents: readonly Document[], naming: Naming): readonly Delivered[] {
  const groups = documents.map((_, at) => naming.envMap?.[at] ?? []);
  const missing = documents.flatMap((document, at) => missingIn(document, groups[at] ?? []));
  const delivered = documents.flatMap((document, at) => named(document, groups[at] ?? [], naming.envMapOnly));
  const mistakes = [...missing, ...mistakesIn(delivered)];
  if (mistakes.length > 0) throw unusable(mistakes);
  return delivered;
}

function named({ path, fields }: Document, group: readonly Mapping[], mapOnly: boolean): Delivered[] {
  return fields.flatMap(({ name, value }) => {
    const mapped = group.filter(({ field }) => field === name).map(({ variable }) => variable);
    const keys = mapped.length > 0 || mapOnly ? mapped : [name];
    return keys.map((key) => ({ key, value, path, field: name }));
  });
}

function missingIn({ path, fields }: Document, group: readonly Mapping[]): string[] {
  return group
    .filter(({ field }) => !fields.some(({ name }) => name === field))
    .map(
      ({ field, variable }) =>
        `${originOf({ path, field })}: is not there, but SVC_ENV_MAP maps it to ${variable}`,
    );
}

function unusable(mistakes: readonly string[]): SvcError {
  return new SvcError('SECRETS_UNUSABLE', `The secrets cannot be delivered: ${mistakeCount(mistakes)}`, {
    nextStep: 'Mend the fields in the secrets server, or SVC_ENV_MAP, and start again.',
    exitStatus: exitStatus.config,
    details: mistakes,
  });
}
