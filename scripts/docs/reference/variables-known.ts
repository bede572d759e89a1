import { settingSets } from './setting-sets.ts';
import { variablesBeside, variablesGiven, variablesOfOclif } from './variables-beside.ts';

/** The variables of all settings. */
export async function settingVariables(): Promise<ReadonlySet<string>> {
  const sets = await settingSets();
  return new Set(sets.flatMap(({ settings }) => settings.map(({ variable }) => variable)));
}

/** Every variable of the reference. */
export async function knownVariables(): Promise<ReadonlySet<string>> {
  const others = [variablesBeside, variablesGiven, variablesOfOclif].flatMap(Object.keys);
  return new Set([...(await settingVariables()), ...others]);
}
