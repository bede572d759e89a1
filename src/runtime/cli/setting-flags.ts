import type { Interfaces } from '@oclif/core';
import { boolean, string } from '@oclif/core/flags';
import type { Setting, Settings } from '../../core/settings/setting.ts';
import { settingSummary } from '../../core/settings/summary.ts';

type FlagInput = Interfaces.FlagInput;

/**
 * The oclif flags of declared settings, by flag name. They carry no default and no variable of their own:
 * reading the configuration decides between flag, variable, file and default, and parses the text.
 */
export function flagsOf(settings: Settings, helpGroup?: string): FlagInput {
  const group = helpGroup === undefined ? {} : { helpGroup };
  const entries = Object.values(settings).flatMap((setting) =>
    setting.flag === undefined ? [] : [[setting.flag, { ...flagFor(setting), ...group }] as const],
  );
  return Object.fromEntries(entries);
}

function flagFor(setting: Setting<unknown>): FlagInput[string] {
  const summary = settingSummary(setting);
  return setting.switch
    ? boolean({ summary })
    : string({ summary, helpValue: setting.helpValue ?? '<value>' });
}

/** The settings that only a variable can give, because they must not stand on a command line. */
export function variablesOnly(settings: Settings): string[] {
  return Object.values(settings).flatMap(({ flag, variable, summary }) =>
    flag === undefined ? [`${variable}  ${summary}`] : [],
  );
}
