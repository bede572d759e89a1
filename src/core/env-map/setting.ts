import type { Parser } from '../settings/parsers.ts';
import { SettingMistake } from '../settings/setting.ts';
import { type EnvMap, parseEnvMap } from './env-map.ts';

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
