import type { SecretVariables } from '../../custom-resources/service-config.ts';
import { variableName } from '../../env-map/env-map.ts';
import { matching } from '../../settings/parsers.ts';
import { kvPath } from '../../vault/kv-path.ts';
import type { PlannedSecret } from '../contract.ts';
import { listed } from './parsers.ts';
import { type Reading, readText, together } from './reading.ts';

const path = listed(kvPath());
const variable = matching(variableName, 'the name of a variable of letters, digits, _, - and .');
/** Of what would end an item of SVC_ENV_MAP, or be dropped there. */
const field = matching(/^(?!\s)[^,;\0]+(?<!\s)$/, 'a field without , and ; and without blanks at its ends');

/** Paths with their variables, as custom resources list them. */
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
      readText(`${place}.variables.${key}`, value, variable),
    ]),
  );
  const mistakes = [named, ...items].flatMap((one) => one.mistakes ?? []);
  if (mistakes.length > 0 || !('value' in named)) return { mistakes };
  const pairs = items.flatMap((item) => ('value' in item ? [item.value] : []));
  return {
    value: { path: named.value, mappings: pairs.map(([f = '', v = '']) => ({ field: f, variable: v })) },
  };
}
