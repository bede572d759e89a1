import { type Setting, settingSummary } from '../../../src/runtime/settings/setting.ts';
import { type Command, commands } from './manifest.ts';
import { sources } from './source-tree.ts';
import { variablesBeside } from './variables-beside.ts';

type AnySetting = Setting<unknown>;

/** Settings that are declared together, and where. */
export interface SettingSet {
  readonly path: string;
  readonly name: string;
  readonly settings: readonly AnySetting[];
}

/** Every record of settings that a file `…settings.ts` of src/ exports. */
export async function settingSets(): Promise<readonly SettingSet[]> {
  const paths = sources()
    .map(({ path }) => path)
    .filter((path) => /(?:^|[/-])settings\.ts$/.test(path));
  return (await Promise.all(paths.map(setsIn))).flat();
}

async function setsIn(path: string): Promise<SettingSet[]> {
  const exported = (await import(new URL(`../../../${path}`, import.meta.url).href)) as object;
  return Object.entries(exported).flatMap(([name, value]) =>
    isSettings(value) ? [{ path, name, settings: Object.values(value) }] : [],
  );
}

function isSettings(value: unknown): value is Readonly<Record<string, AnySetting>> {
  if (typeof value !== 'object' || value === null) return false;
  const members: unknown[] = Object.values(value);
  return members.length > 0 && members.every(isSetting);
}

function isSetting(value: unknown): value is AnySetting {
  const { variable, parse } = (value ?? {}) as Partial<AnySetting>;
  return typeof variable === 'string' && typeof parse === 'function';
}

/**
 * The settings of a command: those of every set whose flags it has, all of them. So a command gets the variables
 * without a flag, too, and a new command is found by itself.
 */
export function settingsOf(command: Command, sets: readonly SettingSet[]): readonly AnySetting[] {
  const own = sets.filter((set) => isOf(command, set)).sort((a, b) => b.settings.length - a.settings.length);
  return [...new Set(own.flatMap(({ settings }) => settings))];
}

export function isOf({ flags }: Command, { settings }: SettingSet): boolean {
  const flagged = settings.filter(({ flag }) => flag !== undefined);
  return (
    flagged.length > 0 &&
    flagged.every((setting) => flags[setting.flag ?? '']?.summary === settingSummary(setting))
  );
}

/** Sets that no command has, and flags that name a variable and belong to no set. */
export function unplaced(sets: readonly SettingSet[]): readonly string[] {
  const all = commands();
  const idle = sets.filter((set) => !all.some((command) => isOf(command, set)));
  const stray = all.flatMap((command) => {
    const known = settingsOf(command, sets).map(({ flag }) => flag);
    return Object.values(command.flags)
      .filter(({ name, summary }) => namesSetting(summary) && !known.includes(name))
      .map(({ name }) => `${command.id} --${name}`);
  });
  return [...idle.map(({ path, name }) => `${path} ${name}`), ...stray];
}

/** It ends with `[VARIABLE, default …]`, and the variable is not one of those beside settings. */
function namesSetting(summary = ''): boolean {
  const [, variable] = / \[([A-Z][A-Z0-9_]+)[\],]/.exec(summary) ?? [];
  return variable !== undefined && !(variable in variablesBeside);
}
