import type { PlannedSecret } from '../contract.ts';

export interface SecretSettings {
  readonly paths: string;
  /** Undefined where no field gets another name. */
  readonly envMap: string | undefined;
}

/** SVC_SECRET_PATHS, and SVC_ENV_MAP with a group a path. */
export function secretSettings(secrets: readonly PlannedSecret[]): SecretSettings {
  const groups = secrets.map(({ mappings }) =>
    mappings.map(({ field, variable }) => `${field}=${variable}`).join(','),
  );
  while (groups.at(-1) === '') groups.pop();
  return {
    paths: secrets.map(({ path }) => path).join(','),
    envMap: groups.length === 0 ? undefined : groups.join(';'),
  };
}

/** Names that the two variables cannot carry; a custom resource admits them. */
export function secretMistakes(secrets: readonly PlannedSecret[]): readonly string[] {
  return secrets.flatMap(({ path, mappings }) => [
    ...(fits(path, /,/)
      ? []
      : [`${JSON.stringify(path)}: a KV path with a comma or blanks at its ends cannot be delivered`]),
    ...mappings
      .filter(({ field }) => !fits(field, /[,;]/))
      .map(({ field }) => `${path}: ${unmappable(field)}`),
  ]);
}

const fits = (name: string, separators: RegExp): boolean =>
  name !== '' && name.trim() === name && !separators.test(name);

const unmappable = (field: string): string =>
  `the field ${JSON.stringify(field)} cannot be mapped, because its name has a comma, a semicolon or blanks at its ends`;
