import type { Interfaces } from '@oclif/core';
import { boolean, string } from '@oclif/core/flags';
import { type Setting, type Settings, settingSummary } from '../settings/setting.ts';

type FlagInput = Interfaces.FlagInput;

/**
 * oclif flags of declared settings, by flag name. They have no default and no variable: reading the configuration
 * chooses between flag, variable, file and default, and parses the text.
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

/** Settings that only a variable can set, because they must not appear on a command line. */
export function variablesOnly(settings: Settings): string[] {
  return Object.values(settings).flatMap(({ flag, variable, summary }) =>
    flag === undefined ? [`${variable}  ${summary}`] : [],
  );
}

/** Like `flagsOf`, for list settings: the flag may repeat. */
export function repeatableFlagsOf(settings: Settings): FlagInput {
  const repeatable = { multiple: true, multipleNonGreedy: true };
  return Object.fromEntries(
    Object.entries(flagsOf(settings)).map(([name, flag]) => [name, { ...flag, ...repeatable }]),
  ) as FlagInput;
}

/** Parsed flags in the form that settings read: one text each, with list items separated by commas. */
export function joined(
  flags: Readonly<Record<string, unknown>>,
): Record<string, string | boolean | undefined> {
  return Object.fromEntries(
    Object.entries(flags).map(([name, value]) => [name, Array.isArray(value) ? value.join() : value]),
  ) as Record<string, string | boolean | undefined>;
}
