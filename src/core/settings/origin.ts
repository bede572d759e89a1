import { type ConfigSection, fileKey } from './config-file.ts';
import type { Setting } from './setting.ts';

/** Where values come from, first before last; the default of a setting comes after them. */
export interface Sources {
  /** By flag name; `true` and `false` for a flag without a value. */
  readonly flags?: Readonly<Record<string, string | boolean | undefined>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly file?: ConfigSection | undefined;
}

/** A value as text, and the place that messages name. */
export interface Given {
  readonly text: string;
  readonly place: string;
}

/** The value that wins, or undefined when nobody gave one. */
export function findGiven(setting: Setting<unknown>, sources: Sources): Given | undefined {
  return (
    fromFlag(setting, sources) ??
    fromVariable(setting, sources) ??
    fromFile(setting, sources) ??
    fromDefault(setting)
  );
}

function fromFlag({ flag, variable }: Setting<unknown>, { flags }: Sources): Given | undefined {
  const value = flag === undefined ? undefined : flags?.[flag];
  return value === undefined ? undefined : { text: String(value), place: `--${flag} (${variable})` };
}

function fromVariable(setting: Setting<unknown>, { env }: Sources): Given | undefined {
  return unlessEmpty(setting, env?.[setting.variable], setting.variable);
}

function fromFile(setting: Setting<unknown>, { file }: Sources): Given | undefined {
  const key = fileKey(setting);
  return unlessEmpty(setting, file?.texts.get(key), `${file?.place}.${key} (${setting.variable})`);
}

function fromDefault({ fallback, variable }: Setting<unknown>): Given | undefined {
  return fallback === undefined ? undefined : { text: fallback, place: `${variable} (default)` };
}

function unlessEmpty(setting: Setting<unknown>, text: string | undefined, place: string): Given | undefined {
  return text === undefined || (text === '' && setting.admitsEmpty !== true) ? undefined : { text, place };
}
