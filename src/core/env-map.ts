import { type Parser, SettingMistake } from './settings/setting.ts';

/** One item of SVC_ENV_MAP: the field of a secret, and the variable that gets its value. */
export interface Mapping {
  readonly field: string;
  readonly variable: string;
}

/** One group of mappings for each secret path, in the order of the paths; groups may be missing at the end. */
export type EnvMap = readonly (readonly Mapping[])[];

export interface ParsedEnvMap {
  readonly map: EnvMap;
  /** One phrase each; empty when the text is right. */
  readonly mistakes: readonly string[];
}

/** As pods may name their variables. */
export const variableName = /^[A-Za-z_.-][\w.-]*$/;

/**
 * Groups are separated by `;`, their items `<field>=<ENV_VAR>` by commas, blanks around both are dropped.
 * A group may be empty, for a path without mappings. A field may have several variables.
 */
export function parseEnvMap(text: string): ParsedEnvMap {
  const groups = text.split(';').map((group) => group.trim());
  while (groups.at(-1) === '') groups.pop();
  const items = groups.map((group, at) => (group === '' ? [] : group.split(',').map((one) => item(one, at))));
  const map = items.map((group) => group.filter((one) => typeof one !== 'string'));
  const misshapen = items.flat().filter((one) => typeof one === 'string');
  return { map, mistakes: [...misshapen, ...repeated(map)] };
}

/** The mapping, or what is wrong with it. */
function item(text: string, group: number): Mapping | string {
  const [, field = '', variable = ''] = /^(.*)=(.*)$/s.exec(text)?.map((part) => part.trim()) ?? [];
  if (field !== '' && variableName.test(variable)) return { field, variable };
  const named = `${JSON.stringify(text.trim())} in group ${group + 1}`;
  if (field === '' || variable === '') return `${named} is not of the form <field>=<ENV_VAR>`;
  return `${named} does not name a variable of letters, digits, _, - and .`;
}

function repeated(map: EnvMap): string[] {
  const known = new Set<string>();
  const twice = new Set<string>();
  for (const { variable } of map.flat()) (known.has(variable) ? twice : known).add(variable);
  return [...twice].map((name) => `${name} is given to more than one field`);
}

/** SVC_ENV_MAP as a setting; its message names every mistake in the text. */
export function envMap(): Parser<EnvMap> {
  return {
    expects: 'groups separated by ; (one a secret path) of <field>=<ENV_VAR> items separated by commas',
    parse: (text) => {
      const { map, mistakes } = parseEnvMap(text);
      if (mistakes.length > 0) throw new SettingMistake(mistakes.join('; '));
      return map;
    },
  };
}
