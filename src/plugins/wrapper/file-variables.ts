import type { ConfigSection } from '../../core/settings/config-file.ts';
import { findGiven } from '../../core/settings/origin.ts';
import type { Setting } from '../../core/settings/setting.ts';
import { wrapperSettings } from './settings.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What a configuration file gives, as variables: those that the environment does not give, by name. */
export function fileVariables(file: ConfigSection, env: Env): ReadonlyMap<string, string> {
  const variables = new Map<string, string>();
  for (const setting of Object.values<Setting<unknown>>(wrapperSettings)) {
    const { fallback: _, ...withoutDefault } = setting;
    const given = findGiven(withoutDefault, { env, file });
    if (given !== undefined && given.text !== env[setting.variable])
      variables.set(setting.variable, given.text);
  }
  return variables;
}
