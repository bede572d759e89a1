import type { Interfaces } from '@oclif/core';
import type { Settings } from '../../core/settings/setting.ts';
import { flagsOf } from './setting-flags.ts';

type FlagInput = Interfaces.FlagInput;

/** As `flagsOf`, for settings that are lists: the flag can be given several times. */
export function repeatableFlagsOf(settings: Settings): FlagInput {
  const repeatable = { multiple: true, multipleNonGreedy: true };
  return Object.fromEntries(
    Object.entries(flagsOf(settings)).map(([name, flag]) => [name, { ...flag, ...repeatable }]),
  ) as FlagInput;
}

/** Parsed flags as settings read them: one text each, items of a list separated by commas. */
export function joined(
  flags: Readonly<Record<string, unknown>>,
): Record<string, string | boolean | undefined> {
  return Object.fromEntries(
    Object.entries(flags).map(([name, value]) => [name, Array.isArray(value) ? value.join() : value]),
  ) as Record<string, string | boolean | undefined>;
}
