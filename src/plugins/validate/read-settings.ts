import { sectionOf } from '../../core/settings/config-file.ts';
import { findGiven, type Sources } from '../../core/settings/origin.ts';
import { invalidConfig } from '../../core/settings/resolve.ts';
import type { Setting } from '../../core/settings/setting.ts';
import { wrongValue } from '../../core/settings/wrong-value.ts';
import { loadConfigFile } from '../../runtime/config/load-file.ts';
import { secrets } from '../../runtime/logging/secrets.ts';
import type { ValidateCall } from './call.ts';
import { type ValidateConfig, validateSettings } from './settings.ts';

export interface ReadSettings {
  /** Path of the configuration file, where one is named. */
  readonly configFile: string | undefined;
  readonly config: ValidateConfig;
  /** In variables and the file, a sentence each: a check of the configuration tells of them. */
  readonly mistakes: readonly string[];
}

/**
 * A variable that is mistaken is something to find and not a wrong call, so it counts as not given.
 * @throws SvcError CONFIG_INVALID for flags that are mistaken, and for a file that cannot be read
 */
export async function readSettings({ flags, given, env }: ValidateCall): Promise<ReadSettings> {
  const path = flags.config ?? (env['SVC_CONFIG'] || undefined);
  const file =
    path === undefined ? undefined : sectionOf(await loadConfigFile(path), 'validate', validateSettings);
  const wrongFlags: string[] = [];
  const mistakes = [...(file?.mistakes ?? [])];
  const values = Object.entries(validateSettings).map(([key, setting]) => {
    const sources: Sources = { flags: given, env, file };
    return [key, readOne(setting, sources, wrongFlags, mistakes)] as const;
  });
  if (wrongFlags.length > 0) throw invalidConfig(wrongFlags);
  return { configFile: path, config: Object.fromEntries(values) as unknown as ValidateConfig, mistakes };
}

function readOne(setting: Setting<unknown>, sources: Sources, wrongFlags: string[], mistakes: string[]) {
  const given = findGiven(setting, sources);
  if (given === undefined) return undefined;
  if (setting.secret) secrets.register(given.text);
  try {
    return setting.parse(given.text);
  } catch (error) {
    const byFlag = setting.flag !== undefined && sources.flags?.[setting.flag] !== undefined;
    (byFlag ? wrongFlags : mistakes).push(wrongValue(setting, given, error));
    return setting.fallback === undefined ? undefined : setting.parse(setting.fallback);
  }
}
