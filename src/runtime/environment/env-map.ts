import { cut, cutMessages, messagesOn } from '../bounds/foreign-text.ts';
import { type Parser, SettingMistake } from '../settings/setting.ts';

/** One item of SVC_ENV_MAP: the field of a secret, and the variable that gets its value. */
export interface EnvMapping {
  readonly field: string;
  readonly variable: string;
}

/** One group of mappings for each secret path, in the order of the paths; trailing groups may be missing. */
export type EnvMap = readonly (readonly EnvMapping[])[];

export interface ParsedEnvMap {
  readonly map: EnvMap;
  /** One phrase each; empty for a valid text. */
  readonly errors: readonly string[];
}

/** As pods may name variables. */
export const variableName = /^[A-Za-z_.-][\w.-]*$/;

/**
 * Groups are separated by `;`, and their items `<field>=<ENV_VAR>` by commas; surrounding blanks are dropped. A group
 * may be empty for a path without mappings. A field may have several variables.
 */
export function parseEnvMap(text: string): ParsedEnvMap {
  const groups = text.split(';').map((group) => group.trim());
  while (groups.at(-1) === '') groups.pop();
  const items = groups.map((group, at) => (group === '' ? [] : group.split(',').map((one) => item(one, at))));
  const map = items.map((group) => group.filter((one) => 'field' in one));
  const misshapen = items.flat().filter((one) => 'text' in one);
  return { map, errors: [...messagesOn(misshapen, explain), ...repeated(map)] };
}

/** An item that is no mapping. */
interface Misshapen {
  readonly text: string;
  readonly group: number;
}

function item(text: string, group: number): EnvMapping | Misshapen {
  const [field, variable] = partsOf(text);
  return field !== '' && variableName.test(variable) ? { field, variable } : { text, group };
}

function partsOf(text: string): readonly [string, string] {
  const [, field = '', variable = ''] = /^(.*)=(.*)$/s.exec(text)?.map((part) => part.trim()) ?? [];
  return [field, variable];
}

function explain({ text, group }: Misshapen): string {
  const named = `${JSON.stringify(cut(text.trim()))} in group ${group + 1}`;
  if (partsOf(text).includes('')) return `${named} is not of the form <field>=<ENV_VAR>`;
  return `${named} does not name a variable of letters, digits, _, - and .`;
}

function repeated(map: EnvMap): string[] {
  const known = new Set<string>();
  const twice = new Set<string>();
  for (const { variable } of map.flat()) (known.has(variable) ? twice : known).add(variable);
  return messagesOn([...twice], (name) => `${cut(name)} is given to more than one field`);
}

/** SVC_ENV_MAP as a setting; its message lists the errors in the text. */
export function envMap(): Parser<EnvMap> {
  return {
    expects: 'groups separated by ; (one per secret path) of <field>=<ENV_VAR> items separated by commas',
    parse: (text) => {
      const { map, errors } = parseEnvMap(text);
      if (errors.length > 0) throw new SettingMistake(cutMessages(errors).join('; '));
      return map;
    },
  };
}
